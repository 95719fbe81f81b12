import { pino } from "pino";
import { expect, test } from "vitest";
import { openKafkaLog } from "../../deploy/stores/kafka/event-log.js";
import { retryWhileDown } from "../../enrich/batches/retry-while-down.js";
import { describeWithJavaBroker } from "../broker/suite/describe-with-broker.js";

describeWithJavaBroker("the event log on a broker that is killed and started again", (broker) => {
  test("a batch that was in hand meanwhile is committed, and not given again", async () => {
    const options = {
      brokers: broker().brokers,
      clientId: "test",
      prefix: "restarted.",
      partitions: 1,
      createTopics: true,
      sessionTimeoutMs: 30_000,
    };
    await using log = await openKafkaLog(options, pino({ level: "silent" }));
    const append = (text: string) => log.append([Buffer.from(text)], { partition: 0 });
    const given: string[][] = [];
    await append("one");
    const share = { index: 0, of: 1 };
    await log.consume({ group: "enrich", batchBytesMax: 1024, share }, async (batch) => {
      given.push(batch.records.map(({ value }) => Buffer.from(value).toString()));
      if (given.length === 1) {
        await broker().kill("SIGKILL");
        await broker().restart();
      }
      await retryWhileDown(() => batch.commit(), { onFailure: () => undefined });
    });
    await expect.poll(() => given.length).toBe(1);
    await expect.poll(() => log.lag("enrich").catch(() => undefined)).toBe(0);
    await append("two");
    await expect.poll(() => given.flat()).toContain("two");
    expect(given).toEqual([["one"], ["two"]]);
  });
});
