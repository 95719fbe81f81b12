import { randomUUID } from "node:crypto";
import type { Admin } from "kafkajs";
import { pino } from "pino";
import { expect, test } from "vitest";
import { startConsumer } from "../../deploy/stores/kafka/event-log-consume.js";
import { openKafkaLog } from "../../deploy/stores/kafka/event-log.js";
import { createKafka } from "../../deploy/stores/kafka/kafka-client.js";
import { pause } from "../../schemas/async/pause.js";
import { EVENTS_TOPIC, type LogBatch } from "../../schemas/records/event-log.js";
import { describeWithBroker } from "../broker/suite/describe-with-broker.js";
import { readMetrics } from "../support/program/read-metrics.js";
import { startToolchain } from "../support/program/start-toolchain.js";
import { bytes, collect, collecting } from "../support/stores/event-log-suite.js";

const LATE_MS = 2_000;
const CONSUMING = { group: "enrich", batchBytesMax: 2, share: { index: 0, of: 1 } };

describeWithBroker("records of the event log that are gone before they were read", (broker) => {
  async function removeBefore(offset: number, prefix: string): Promise<void> {
    const options = { brokers: broker().brokers, clientId: "test" };
    const admin = createKafka(options, pino({ level: "silent" })).admin();
    await admin.connect();
    const partitions = [{ partition: 0, offset: String(offset) }];
    const topic = `${prefix}${EVENTS_TOPIC}`;
    await admin.fetchTopicOffsets(topic); // its leaders, without which kafkajs deletes nothing
    await admin.deleteTopicRecords({ topic, partitions });
    await admin.disconnect();
  }

  async function openLog() {
    const errors: string[] = [];
    const lost: number[] = [];
    const write = (line: string) => {
      const { msg, records, partition, first, last } = JSON.parse(line) as Record<string, string | number>;
      errors.push(`${msg}: ${records} of ${partition}, ${first} to ${last}`);
    };
    const prefix = `${randomUUID()}.`;
    const options = {
      brokers: broker().brokers,
      clientId: "test",
      prefix,
      partitions: 1,
      createTopics: true,
    };
    const log = await openKafkaLog(options, pino({ level: "error" }, { write }), {
      onRecordsLost: (records) => lost.push(records),
    });
    const remove = (offset: number) => removeBefore(offset, prefix);
    const append = (...texts: string[]) => log.append(bytes(...texts), { partition: 0 });
    return {
      log,
      append,
      remove,
      errors,
      lost,
      prefix,
      [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    };
  }

  const GONE_2_TO_4 = "records of the event log were deleted before they were read: 3 of 0, 2 to 4";

  test("are named by the consumer that comes next, which forgets the range it cannot form again", async () => {
    await using opened = await openLog();
    const { log, append, remove, errors, lost } = opened;
    await append("0", "1", "2", "3", "4", "5");
    const failing = await log.consume(CONSUMING, async (batch) => {
      if (batch.records[0]?.offset === 0) return batch.commit();
      await batch.recordRange("begun");
      throw new Error("crashed as the test wants");
    });
    await failing.crashed;
    await failing[Symbol.asyncDispose]();
    await remove(5);
    const got = await collect(log, { until: 1, group: CONSUMING.group });
    expect(got.texts()).toEqual(["5"]);
    expect(got.batches.map(({ recordedNote }: LogBatch) => recordedNote)).toEqual([undefined]);
    expect(errors).toContain(GONE_2_TO_4);
    expect(lost).toEqual([3]);
    expect(await log.lag(CONSUMING.group)).toBe(0);
  });

  test("are named when they go while a consumer is at work", async () => {
    await using opened = await openLog();
    const { log, append, remove, errors, lost } = opened;
    await append("0", "1");
    const got = collecting(async ({ records }) => {
      if (records[0]?.offset !== 0) return;
      await append("2", "3", "4", "5");
      await remove(5);
    });
    await using _consumer = await log.consume(CONSUMING, got.take);
    await got.reached(3);
    expect(got.texts()).toEqual(["0", "1", "5"]);
    expect(errors).toContain(GONE_2_TO_4);
    expect(lost).toEqual([3]);
  });

  test("are named when the positions of the group are read late", async () => {
    await using opened = await openLog();
    const { log, append, remove, prefix } = opened;
    await append("0");
    await collect(log, { until: 1, group: CONSUMING.group });
    await append("1", "2", "3", "4", "5");
    await remove(5);
    const silent = pino({ level: "silent" });
    const kafka = createKafka({ brokers: broker().brokers, clientId: "test" }, silent);
    const admin = kafka.admin();
    await admin.connect();
    const fetchOffsets: Admin["fetchOffsets"] = async (asked) => {
      await pause(LATE_MS);
      return admin.fetchOffsets(asked);
    };
    const late = Object.create(admin, { fetchOffsets: { value: fetchOffsets } }) as Admin;
    const lost: number[] = [];
    const got = collecting(async () => undefined);
    const consumer = await startConsumer(
      {
        kafka,
        admin: late,
        topic: `${prefix}${EVENTS_TOPIC}`,
        logId: "test",
        sessionTimeoutMs: 30_000,
        log: silent,
        onRecordsLost: (records) => lost.push(records),
      },
      { ...CONSUMING, group: `${prefix}${CONSUMING.group}` },
      got.take,
    );
    await got.reached(1);
    await consumer[Symbol.asyncDispose]();
    await admin.disconnect();
    expect(got.texts()).toEqual(["5"]);
    expect(lost).toEqual([4]);
  });

  test("are nothing to a group that has read nothing yet", async () => {
    await using opened = await openLog();
    const { log, append, remove, errors, lost } = opened;
    await append("0", "1", "2");
    await remove(2);
    const got = await collect(log, { until: 1 });
    expect(got.texts()).toEqual(["2"]);
    expect(errors).toEqual([]);
    expect(lost).toEqual([]);
  });

  test("are in the metrics of the program that would have read them", async () => {
    const prefix = `${randomUUID()}.`;
    const env = {
      KAFKA_BROKERS: broker().brokers.join(","),
      KAFKA_TOPIC_PREFIX: prefix,
      KAFKA_PARTITIONS: "1",
    };
    await using toolchain = await startToolchain({ env });
    const lost = async () => (await readMetrics(toolchain)).sum("event_log_records_lost_total");
    const lag = async () => (await readMetrics(toolchain)).sum("event_log_lag_records");
    const append = async (...texts: string[]) => {
      const log = await toolchain.openLog();
      await log.append(bytes(...texts), { partition: 0 });
      await log[Symbol.asyncDispose]();
    };
    await append("0");
    await expect.poll(lag).toBe(0);
    expect(await lost()).toBe(0);
    expect(await toolchain.kill("SIGTERM")).toBe(0);
    await append("1", "2", "3", "4");
    await removeBefore(4, prefix);
    await toolchain.restart();
    await expect.poll(lost).toBe(3);
  });
});
