import { describe, expect, test } from "vitest";
import { pause } from "../../../schemas/async/pause.js";
import {
  QUEUES,
  partitionsOf,
  type ConsumeOptions,
  type EventLog,
  type LagReader,
  type LogBatch,
} from "../../../schemas/records/event-log.js";

type Log = EventLog & LagReader;

/** A log of its own for one test. */
export interface OpenedLog {
  log: Log;
  /** Closes the log as its process's end would and opens it again. */
  reopen: () => Promise<Log>;
  close: () => Promise<void>;
}

const ALL: ConsumeOptions = { group: "test", batchBytesMax: 1_000, share: { index: 0, of: 1 } };

/** The promises of every event log. */
export function eventLogSuite(name: string, open: () => Promise<OpenedLog>): void {
  describe(name, () => {
    const holds = (title: string, run: (opened: OpenedLog) => Promise<void>) =>
      test(title, async () => {
        const opened = await open();
        try {
          await run(opened);
        } finally {
          await opened.close();
        }
      });

    holds("keeps every record that it acknowledged, after it was opened again", async ({ log, reopen }) => {
      await log.append(bytes("a", "b"), { partition: 1 });
      await log.append(bytes("c"), { partition: 1 });
      const got = await collect(await reopen(), { until: 3 });
      expect(got.texts(1)).toEqual(["a", "b", "c"]);
    });

    holds(
      "gives the records of one partition in the order of their appends, with consecutive offsets",
      async ({ log }) => {
        const texts = numbered("r", 200);
        const ends = await Promise.all(texts.map((text) => log.append(bytes(text), { partition: 2 })));
        const got = await collect(log, { until: 200, batchBytesMax: 30 });
        expect(got.texts(2)).toEqual(texts);
        expect(got.offsets(2)).toEqual(texts.map((_, index) => index + (got.offsets(2)[0] ?? NaN)));
        expect(ends).toEqual(got.offsets(2).map((offset) => offset + 1));
      },
    );

    holds("gives each record exactly once across commits and reopening", async ({ log, reopen }) => {
      const texts = numbered("once", 90);
      await spread(log, texts);
      const first = await collect(log, { until: 40, batchBytesMax: 50 });
      const second = await collect(await reopen(), { until: 90 - first.count(), batchBytesMax: 70 });
      expect([...first.texts(), ...second.texts()].sort()).toEqual(texts);
    });

    holds("ends a batch before it exceeds its bytes, and gives a larger record alone", async ({ log }) => {
      await log.append([filled(400), filled(600), filled(1), filled(5_000), filled(10)], { partition: 0 });
      const got = await collect(log, { until: 5 });
      expect(got.batches.map(({ records }) => records.map(({ value }) => value.length))).toEqual([
        [400, 600],
        [1],
        [5_000],
        [10],
      ]);
    });

    holds("gives a batch again that was not committed", async ({ log, reopen }) => {
      await log.append(bytes("x", "y"), { partition: 0 });
      const failed = await crash(log, async () => undefined);
      const got = await collect(await reopen(), { until: 2 });
      expect(got.texts()).toEqual(["x", "y"]);
      expect(got.batches[0]?.token).toBe(failed.token);
    });

    holds("ends a batch before what its records count for exceeds its bytes", async ({ log }) => {
      await log.append([filled(100), filled(100), filled(500), filled(50)], { partition: 0 });
      const sizeOf = ({ length }: Uint8Array) => length * 5;
      const got = await collect(log, { until: 4, sizeOf });
      expect(got.batches.map(({ records }) => records.map(({ value }) => value.length))).toEqual([
        [100, 100],
        [500],
        [50],
      ]);
    });

    holds(
      "re-forms a recorded range exactly after a crash, though more was appended and batches are larger",
      async ({ log, reopen }) => {
        await log.append(bytes("a", "b"), { partition: 0 });
        const failed = await crash(log, (batch) => batch.recordRange("noted"));
        await log.append(bytes("c", "d"), { partition: 0 });
        const got = await collect(await reopen(), { until: 4, batchBytesMax: 1_000_000 });
        expect(got.batches.map((batch) => batch.records.map(text))).toEqual([
          ["a", "b"],
          ["c", "d"],
        ]);
        expect(got.batches[0]?.token).toBe(failed.token);
        expect(got.batches.map(({ recordedNote }) => recordedNote)).toEqual(["noted", undefined]);
      },
    );

    holds("re-forms a recorded range exactly with a smaller limit as well", async ({ log, reopen }) => {
      await log.append([filled(300), filled(300), filled(300)], { partition: 0 });
      const failed = await crash(log, (batch) => batch.recordRange("noted"));
      const got = await collect(await reopen(), { until: 3, batchBytesMax: 10 });
      expect(got.batches.map(({ token }) => token)).toEqual([failed.token]);
    });

    holds("keeps a note of 3 KB with a recorded range", async ({ log, reopen }) => {
      const note = "ä€😀".repeat(300);
      await log.append(bytes("a"), { partition: 0 });
      await crash(log, (batch) => batch.recordRange(note));
      const got = await collect(await reopen(), { until: 1 });
      expect(got.batches[0]?.recordedNote).toBe(note);
    });

    holds(
      "lets a range be recorded again before its commit, and gives the last note after each crash",
      async ({ log, reopen }) => {
        await log.append(bytes("a", "b"), { partition: 0 });
        const failed = await crash(log, async (batch) => {
          await batch.recordRange("first");
          await batch.recordRange("second");
        });
        await log.append(bytes("c"), { partition: 0 });
        const again = await crash(await reopen(), (batch) =>
          batch.recordRange(`${batch.recordedNote}, third`),
        );
        expect(again.token).toBe(failed.token);
        const got = await collect(await reopen(), { until: 3, before: (batch) => batch.recordRange("last") });
        expect(got.batches.map(({ recordedNote }) => recordedNote)).toEqual(["second, third", undefined]);
        expect(got.batches[0]?.token).toBe(failed.token);
      },
    );

    holds("forgets the recorded range when it is committed", async ({ log, reopen }) => {
      await log.append(bytes("a", "b"), { partition: 0 });
      await collect(log, { until: 2, before: (batch) => batch.recordRange("noted") });
      await log.append(bytes("c"), { partition: 0 });
      const got = await collect(await reopen(), { until: 1 });
      expect(got.texts()).toEqual(["c"]);
      expect(got.batches[0]?.recordedNote).toBeUndefined();
    });

    holds("names the same records by the same token, and others by others", async ({ log }) => {
      await spread(log, numbered("t", 40));
      const one = await collect(log, { until: 40, group: "one", batchBytesMax: 8 });
      const two = await collect(log, { until: 40, group: "two", batchBytesMax: 8 });
      const described = ({ batches }: Collected) =>
        batches.map(({ token, records }) => `${token} ${records.map(text).join()}`).sort();
      expect(described(one)).toEqual(described(two));
      expect(new Set(one.batches.map(({ token }) => token)).size).toBe(one.batches.length);
      expect(one.batches[0]?.token).toMatch(/^[^:]+:[^:]+:\d+:\d+-\d+$/);
    });

    holds("divides the partitions between two consumers", async ({ log }) => {
      const texts = numbered("s", 64);
      const left = collecting();
      const right = collecting();
      await using _left = await log.consume({ ...ALL, share: { index: 0, of: 2 } }, left.take);
      await using _right = await log.consume({ ...ALL, share: { index: 1, of: 2 } }, right.take);
      await spread(log, texts);
      await left.reached(32);
      await right.reached(32);
      expect([...left.texts(), ...right.texts()].sort()).toEqual(texts);
      expect(left.partitions().filter((partition) => right.partitions().includes(partition))).toEqual([]);
    });

    holds(
      "gives each queue the records of its own partitions, and holds no queue up for the other",
      async ({ log }) => {
        const [express, bulk] = QUEUES.map((queue) => partitionsOf(queue, log.partitions));
        const release = deferred();
        const slow = collecting(() => release.promise);
        const quick = collecting();
        await using _slow = await log.consume({ ...ALL, queue: "bulk" }, slow.take);
        await using _quick = await log.consume({ ...ALL, queue: "express" }, quick.take);
        for (const partition of bulk ?? []) await log.append(bytes(`bulk ${partition}`), { partition });
        for (const partition of express ?? []) await log.append(bytes(`express ${partition}`), { partition });
        await quick.reached(express?.length ?? NaN);
        expect(quick.partitions().sort()).toEqual(express);
        expect(slow.count()).toBe(0);
        release.resolve();
        await slow.reached(bulk?.length ?? NaN);
        expect(slow.partitions().sort()).toEqual(bulk);
      },
    );

    holds("divides the partitions of a queue between two consumers", async ({ log }) => {
      const partitions = partitionsOf("bulk", log.partitions);
      const left = collecting();
      const right = collecting();
      await using _left = await log.consume({ ...ALL, queue: "bulk", share: { index: 0, of: 2 } }, left.take);
      await using _right = await log.consume(
        { ...ALL, queue: "bulk", share: { index: 1, of: 2 } },
        right.take,
      );
      for (const partition of partitions) await log.append(bytes(`${partition}`), { partition });
      await left.reached(partitions.length / 2);
      await right.reached(partitions.length / 2);
      expect([...left.partitions(), ...right.partitions()].sort()).toEqual(partitions);
    });

    holds("has one batch of a partition in hand at a time", async ({ log }) => {
      await spread(log, numbered("o", 32));
      const inHand = new Map<number, number>();
      const most: number[] = [];
      const got = await collect(log, {
        until: 32,
        batchBytesMax: 5,
        before: async ({ partition }) => {
          inHand.set(partition, (inHand.get(partition) ?? 0) + 1);
          await pause(2);
          most.push(inHand.get(partition) ?? 0);
          inHand.set(partition, 0);
        },
      });
      expect(got.count()).toBe(32);
      expect(Math.max(...most)).toBe(1);
    });

    holds("stops consuming when the handler throws, and says why", async ({ log }) => {
      await spread(log, numbered("f", 30));
      let calls = 0;
      const consumer = await log.consume({ ...ALL, batchBytesMax: 3 }, async () => {
        calls++;
        throw new Error("the handler failed");
      });
      expect(messages(await consumer.crashed)).toContain("the handler failed");
      const callsAtCrash = calls;
      await log.append(bytes("more"), { partition: 0 });
      await consumer[Symbol.asyncDispose]();
      expect(calls).toBe(callsAtCrash);
    });

    holds("is done with the batch in hand when a consumer is disposed of", async ({ log }) => {
      await log.append(bytes("slow"), { partition: 0 });
      const begun = deferred();
      let done = false;
      const consumer = await log.consume(ALL, async (batch) => {
        begun.resolve();
        await pause(100);
        await batch.commit();
        done = true;
      });
      await begun.promise;
      await consumer[Symbol.asyncDispose]();
      expect(done).toBe(true);
      expect(await log.lag(ALL.group)).toBe(0);
    });

    holds("carries records of 1.6 MiB unchanged", async ({ log }) => {
      const large = [1, 2, 3].map((seed) => noise(1.6 * 2 ** 20, seed));
      await log.append(large, { partition: 3 });
      const got = await collect(log, { until: 3, batchBytesMax: 4 * 2 ** 20 });
      const read = got.batches.flatMap(({ records }) => records.map(({ value }) => Buffer.from(value)));
      expect(read.map((value, index) => value.equals(large[index] ?? Buffer.alloc(0)))).toEqual([
        true,
        true,
        true,
      ]);
    });

    holds("gives nothing while nothing was appended, then the first record soon", async ({ log }) => {
      const got = collecting();
      await using _consumer = await log.consume(ALL, got.take);
      await pause(150);
      expect(got.count()).toBe(0);
      await log.append(bytes("first"), { partition: 0 });
      await got.reached(1);
      expect(got.texts()).toEqual(["first"]);
    });

    holds("counts as lag what was appended and not committed", async ({ log }) => {
      const appended = async () => (await log.ends()).reduce((sum, end) => sum + end, 0);
      expect([await log.lag(ALL.group), await appended()]).toEqual([0, 0]);
      await spread(log, numbered("l", 20));
      expect([await log.lag(ALL.group), await appended()]).toEqual([20, 20]);
      await collect(log, { until: 20 });
      expect([await log.lag(ALL.group), await appended()]).toEqual([0, 20]);
    });

    holds("counts as lag below ends of earlier only what was in front of them", async ({ log }) => {
      await log.append(bytes("a", "b"), { partition: 0 });
      const below = await log.ends();
      await log.append(bytes("c"), { partition: 0 });
      await log.append(bytes("d", "e", "f"), { partition: 1 });
      expect([await log.lag(ALL.group, { below }), await log.lag(ALL.group)]).toEqual([2, 6]);
      await collect(log, { until: 6 });
      await log.append(bytes("g"), { partition: 1 });
      expect([await log.lag(ALL.group, { below }), await log.lag(ALL.group)]).toEqual([0, 1]);
    });
  });
}

interface Collected {
  readonly batches: LogBatch[];
  count(): number;
  texts(partition?: number): string[];
  offsets(partition: number): number[];
  partitions(): number[];
}

interface Collecting extends Collected {
  take: (batch: LogBatch) => Promise<void>;
  /** Resolves when at least so many records were committed. */
  reached: (count: number) => Promise<void>;
}

const REACH_MS = 120_000;

export function collecting(before: (batch: LogBatch) => Promise<void> = async () => undefined): Collecting {
  const batches: LogBatch[] = [];
  const of = (partition?: number) =>
    batches
      .filter((batch) => partition === undefined || batch.partition === partition)
      .flatMap(({ records }) => records);
  const collected = {
    batches,
    count: () => of().length,
    texts: (partition?: number) => of(partition).map(text),
    offsets: (partition: number) => of(partition).map(({ offset }) => offset),
    partitions: () => [...new Set(batches.map(({ partition }) => partition))],
    async take(batch: LogBatch) {
      await before(batch);
      const records = batch.records.map(({ offset, value }) => ({ offset, value: Buffer.from(value) }));
      await batch.commit();
      batches.push({ ...batch, records });
    },
    async reached(count: number) {
      const deadline = Date.now() + REACH_MS;
      while (collected.count() < count && Date.now() < deadline) await pause(5);
      expect(collected.count()).toBeGreaterThanOrEqual(count);
    },
  };
  return collected;
}

interface CollectOptions {
  until: number;
  group?: string;
  batchBytesMax?: number;
  before?: (batch: LogBatch) => Promise<void>;
  sizeOf?: NonNullable<ConsumeOptions["sizeOf"]>;
}

/** Consumes and commits until so many records came, then stops; a last batch may have brought more. */
export async function collect(log: EventLog, options: CollectOptions): Promise<Collected> {
  const { until, before, group = ALL.group, batchBytesMax = ALL.batchBytesMax, sizeOf } = options;
  const got = collecting(before);
  await using _consumer = await log.consume(
    { ...ALL, group, batchBytesMax, ...(sizeOf && { sizeOf }) },
    got.take,
  );
  await got.reached(until);
  return got;
}

/** Consumes one batch and fails on it after `before`, as a process does that dies there. */
async function crash(log: EventLog, before: (batch: LogBatch) => Promise<void>): Promise<LogBatch> {
  let last: LogBatch | undefined;
  const consumer = await log.consume(ALL, async (batch) => {
    await before(batch);
    last = batch;
    throw new Error("crashed as the test wants");
  });
  await consumer.crashed;
  await consumer[Symbol.asyncDispose]();
  return last as unknown as LogBatch;
}

async function spread(log: EventLog, texts: readonly string[]): Promise<void> {
  await Promise.all(
    texts.map((text, index) => log.append(bytes(text), { partition: index % log.partitions })),
  );
}

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(4, "0")}`);
}

export function bytes(...texts: string[]): Buffer[] {
  return texts.map((each) => Buffer.from(each));
}

function text({ value }: { value: Uint8Array }): string {
  return Buffer.from(value).toString();
}

function filled(length: number): Buffer {
  return Buffer.alloc(length, "x");
}

function noise(length: number, seed: number): Buffer {
  const buffer = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    buffer[at] = state >>> 24;
  }
  return buffer;
}

function messages(error: unknown): string {
  return error instanceof Error ? `${error.message} ${messages(error.cause)}` : "";
}

export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
