import type { Admin, Consumer, EachBatchPayload, Kafka, KafkaMessage } from "kafkajs";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { openReader } from "../../../../../deploy/stores/kafka/event-log-reader.js";

const PARTITION = 3;

/** A record for each time, from offset 7 on. */
const recordsAt = (...times: string[]) =>
  times.map((timestamp, index) => ({
    offset: String(7 + index),
    timestamp,
    value: Buffer.from(`at ${timestamp}`),
  })) as KafkaMessage[];

/** The batches, commits and log lines of a consumer that finds `metadata` beside the committed offset 7. */
async function consume(messages: KafkaMessage[], metadata: string, sessionTimeoutMs = 30_000) {
  const errors: string[] = [];
  const lost: number[] = [];
  const write = (line: string) => {
    const { msg, partition, expected } = JSON.parse(line) as {
      msg: string;
      partition: number;
      expected: number;
    };
    errors.push(`${msg} (${partition}, ${expected})`);
  };
  const committed: { offset: string; metadata: string }[] = [];
  const ownedForMs: number[] = [];
  const batches: { token: string; note: string | undefined; times: string[] }[] = [];
  const partitions = [{ partition: PARTITION, offset: "7", metadata }];
  const reader = openReader({} as Consumer, {
    kafka: {} as Kafka,
    admin: { fetchOffsets: async () => [{ topic: "events.raw", partitions }] } as unknown as Admin,
    topic: "events.raw",
    logId: "log",
    sessionTimeoutMs,
    log: pino({ level: "error" }, { write }),
    onRecordsLost: (records) => lost.push(records),
    options: { group: "enrich", batchBytesMax: 1_000, share: { index: 0, of: 1 } },
    crash: (error) => errors.push(String(error)),
    async handle(batch) {
      const times = batch.records.map(({ value }) => Buffer.from(value).toString());
      ownedForMs.push(batch.ownedForMs);
      batches.push({ token: batch.token, note: batch.recordedNote, times });
      await batch.recordRange("begun");
      await batch.commit();
    },
  });
  void reader.forget();
  await reader.take({
    batch: { partition: PARTITION, messages, lastOffset: () => messages.at(-1)?.offset },
    commitOffsetsIfNecessary: async ({
      topics,
    }: {
      topics: [{ partitions: [(typeof committed)[number]] }];
    }) => void committed.push(topics[0].partitions[0]),
    resolveOffset: () => undefined,
    heartbeat: async () => undefined,
  } as unknown as EachBatchPayload);
  return { batches, errors, lost, ownedForMs, metadata: committed.map((each) => each.metadata) };
}

describe("a range of the event log on Kafka", () => {
  test("has the times of its first and of its last record in its token, and is recorded with the latter", async () => {
    const { batches, metadata } = await consume(recordsAt("100", "200"), "");
    expect(batches.map(({ token }) => token)).toEqual(["log@100-200:events.raw:3:7-8"]);
    expect(metadata).toEqual(["8@200 begun", ""]);
  });

  test.each([
    [6_000, 6_000],
    // A rebalance waits no longer for a consumer, however long its session is.
    [300_000, 60_000],
  ])(
    "is its consumer's for a session of %i ms after it was recorded, at most for a rebalance",
    async (session, owned) => {
      const { ownedForMs } = await consume(recordsAt("100"), "", session);
      expect(ownedForMs).toEqual([owned]);
    },
  );

  test("that was recorded comes again under its token, without what was appended since", async () => {
    const { batches, errors } = await consume(recordsAt("100", "200", "300"), "8@200 noted");
    expect(batches).toEqual([
      { token: "log@100-200:events.raw:3:7-8", note: "noted", times: ["at 100", "at 200"] },
      { token: "log@300-300:events.raw:3:9-9", note: undefined, times: ["at 300"] },
    ]);
    expect(errors).toEqual([]);
  });

  test("is forgotten where the log was cut short within it and grew again", async () => {
    const { batches, errors } = await consume(recordsAt("100", "900", "901"), "8@200 noted");
    expect(batches).toEqual([
      { token: "log@100-901:events.raw:3:7-9", note: undefined, times: ["at 100", "at 900", "at 901"] },
    ]);
    expect(errors).toEqual([expect.stringMatching(/truncated within a batch .*\(3, 8\)/)]);
  });

  test("is forgotten where its last record is not in the log any more", async () => {
    const [first, , third] = recordsAt("100", "200", "300");
    const { batches } = await consume([first, third] as KafkaMessage[], "8@200 noted");
    expect(batches.map(({ token, note }) => [token, note])).toEqual([
      ["log@100-300:events.raw:3:7-9", undefined],
    ]);
  });
});

describe("records that were not read and are there no more", () => {
  test.each([
    ["none are", 0, []],
    ["two are", 2, [2]],
  ])("are counted: %s", async (_, gone, counted) => {
    const { lost } = await consume(recordsAt("100", "200", "300").slice(gone), "");
    expect(lost).toEqual(counted);
  });

  test("are not counted where the log goes back: nobody knows how many they are", async () => {
    const [first] = recordsAt("100") as [KafkaMessage];
    const { lost, errors } = await consume([{ ...first, offset: "2" }], "");
    expect(lost).toEqual([]);
    expect(errors).toEqual([expect.stringMatching(/went back to an earlier offset.*\(3, 7\)/)]);
  });
});
