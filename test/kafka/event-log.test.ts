import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { pino } from "pino";
import { openKafkaLog } from "../../deploy/stores/kafka/event-log.js";
import { BatchLost } from "../../schemas/records/event-log.js";
import { describeWithBroker } from "../broker/suite/describe-with-broker.js";
import { eventLogSuite } from "../support/stores/event-log-suite.js";

describeWithBroker("on a Kafka broker", (broker) => {
  /** With topics of its own, the same whenever it is opened. */
  const opensLog = (options: { partitions: number; sessionTimeoutMs: number }) => {
    const prefix = `${randomUUID()}.`;
    const topics = { brokers: broker().brokers, clientId: "test", prefix, createTopics: true };
    return () => openKafkaLog({ ...topics, ...options }, pino({ level: "silent" }));
  };

  eventLogSuite("the event log on Kafka", async () => {
    const open = opensLog({ partitions: 8, sessionTimeoutMs: 10_000 });
    let log = await open();
    return {
      log,
      async reopen() {
        await log[Symbol.asyncDispose]();
        return (log = await open());
      },
      close: async () => log[Symbol.asyncDispose](),
    };
  });

  test("a consumer that stood still for longer than its session hears at once that its batch is lost, and is given it again", async () => {
    await using log = await opensLog({ partitions: 1, sessionTimeoutMs: broker().sessionTimeoutMs })();
    await log.append([Buffer.from("one")], { partition: 0 });
    const failures: unknown[] = [];
    const notes: unknown[] = [];
    let done = (): void => undefined;
    const committed = new Promise<void>((resolve) => (done = resolve));
    const share = { index: 0, of: 1 };
    await log.consume({ group: "enrich", batchBytesMax: 1024, share }, async (batch) => {
      notes.push(batch.recordedNote);
      if (notes.length === 1) {
        await batch.recordRange("begun");
        standStill(broker().sessionTimeoutMs + 2_000);
      }
      await batch.commit().catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
      done();
    });
    await committed;
    expect(failures).toEqual([expect.any(BatchLost)]);
    expect(notes).toEqual([undefined, "begun"]);
  });
});

/** As a process does that is frozen: it sends no heartbeats. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
