import { describe, expect, test, vi } from "vitest";
import type { ChunkOutcome } from "../../../schemas/records/chunk-outcome.js";
import type { Queue } from "../../../schemas/records/event-log.js";
import { type RawChunk, encodeRawChunk } from "../../../schemas/records/raw-chunk.js";
import { IMPORT_ID, chunkOf } from "./lines/chunk-of.js";
import {
  CONSUMER,
  type Insert,
  batchOf,
  bytesOf,
  inserted,
  logOf,
  notHere,
  startWorkerOn,
} from "./worker-of.js";

const OTHER_IMPORT = "01990000-0000-7000-8000-0000000000ab";
const TOKEN = "log:events.raw:0:5-6";

interface Fakes {
  chunks?: RawChunk[];
  recordedNote?: string;
  aborted?: string[];
  insertFailures?: number;
  /** Recounts that begin when an insert fails. */
  recounts?: number;
}

/** Hands one batch to a worker and writes down, in order, what it does with it. */
async function work({
  chunks = [chunkOf('{"$time":1600000001}\nnonsense\n')],
  recordedNote,
  aborted = [],
  insertFailures = 0,
  recounts = 0,
}: Fakes) {
  const steps: string[] = [];
  const bodies: Buffer[] = [];
  const outcomes: ChunkOutcome[] = [];
  const told: string[] = [];
  const batch = batchOf(chunks.map(encodeRawChunk), {
    token: TOKEN,
    recordedNote,
    recordRange: async (note) => void steps.push(`range ${note}`),
    commit: async () => void steps.push("commit"),
  });
  const log = logOf(async (_, handle) => {
    await handle(batch);
    return CONSUMER;
  });
  let failuresLeft = insertFailures;
  let latestRecount = 0;
  const exec = async (insert: Insert) => {
    bodies.push(await bytesOf(insert));
    const table = insert.query.split(" ")[2] ?? "";
    steps.push(`insert ${table} ${insert.clickhouse_settings.insert_deduplication_token ?? ""}`);
    if (failuresLeft-- <= 0) return inserted();
    latestRecount += recounts;
    return inserted({ "x-clickhouse-exception-code": "210" });
  };
  const abortedAmong = vi.fn(async (ids: readonly string[]) => aborted.filter((id) => ids.includes(id)));
  await startWorkerOn(log, {
    client: { exec, command: async () => void steps.push("sync") },
    progress: {
      abortedAmong,
      putChunks: async (put) => {
        outcomes.push(...put);
        steps.push(`progress ${put.length}`);
        return [];
      },
      replaceDeadLetters: notHere,
    },
    recounts: {
      latest: async () => String(latestRecount),
      whileInserting: (insert) => insert(),
      recount: async (_, stamps) => void steps.push(`recount ${stamps.join(" ")}`),
    },
    onWritten: ({ again }) => told.push(again ? "again" : "first"),
    onInserted: ({ table }) => told.push(table),
  });
  return { steps, bodies, outcomes, abortedAmong, told };
}

const ofOther = chunkOf('{"$time":1600000002}\n', { importId: OTHER_IMPORT, sequence: 3 });

const BEGUN = 'range {"attempts":1,"basis":"tiny 0"}';
const passingOver = (importId: string) =>
  `range {"attempts":1,"basis":"tiny 0","skippedImports":["${importId}"]}`;

describe("startWorker", () => {
  test("records the range before it writes, syncs and reports after it wrote, and commits last", async () => {
    const { steps, outcomes } = await work({});
    expect(steps).toEqual([
      BEGUN,
      `insert events ${TOKEN}#0`,
      `insert import_log ${TOKEN}#0:log`,
      "sync",
      "progress 1",
      "commit",
    ]);
    expect(outcomes[0]).toMatchObject({ eventsTotal: 2, eventsImported: 1, eventsFailed: 1 });
  });

  test("tells of every insert that was taken, not of those that failed, and whether the batch came again", async () => {
    expect((await work({})).told).toEqual(["events", "import_log", "first"]);
    const again = await work({ recordedNote: '{"attempts":1,"basis":"tiny 0"}', insertFailures: 1 });
    expect(again.told).toEqual(["events", "import_log", "again"]);
  });

  test.each([
    [
      "that comes again with other lookup tables",
      { recordedNote: '{"attempts":1,"basis":"other 0"}' },
      ["recount 5"],
    ],
    ["that comes again after a recount", { recordedNote: '{"attempts":1,"basis":"tiny 7"}' }, ["recount 5"]],
    ["with an insert that was cut short before a recount", { insertFailures: 1, recounts: 1 }, ["recount 5"]],
    ["that comes again, and nothing is different", { recordedNote: '{"attempts":1,"basis":"tiny 0"}' }, []],
    ["with an insert that failed, and nothing is different", { insertFailures: 1 }, []],
  ])("recounts, or not, a batch %s", async (_, fakes, recounted) => {
    const { steps } = await work({
      chunks: [chunkOf('{"$time":1600000001}', { receiptStamp: 5 })],
      ...fakes,
    });
    const written = steps.slice(steps.findLastIndex((step) => step.startsWith("insert")) + 1);
    expect(written).toEqual([...recounted, "sync", "progress 1", "commit"]);
  });

  test("makes one insert of the chunks of several imports", async () => {
    const { steps, outcomes, abortedAmong } = await work({
      chunks: [chunkOf('{"$time":1600000001}'), ofOther, ofOther],
    });
    expect(steps).toEqual([BEGUN, `insert events ${TOKEN}#0`, "sync", "progress 3", "commit"]);
    expect(outcomes.map(({ importId, sequence }) => `${importId} ${sequence}`)).toEqual([
      `${IMPORT_ID} 0`,
      `${OTHER_IMPORT} 3`,
      `${OTHER_IMPORT} 3`,
    ]);
    expect(abortedAmong).toHaveBeenCalledExactlyOnceWith([IMPORT_ID, OTHER_IMPORT]);
  });

  test("passes over the chunks of aborted imports, and notes that it did", async () => {
    const { steps, outcomes } = await work({
      chunks: [chunkOf('{"$time":1600000001}'), ofOther],
      aborted: [OTHER_IMPORT],
    });
    expect(steps[0]).toBe(passingOver(OTHER_IMPORT));
    expect(outcomes.map(({ importId }) => importId)).toEqual([IMPORT_ID]);
  });

  test("commits a batch of which nothing is wanted without writing", async () => {
    const { steps } = await work({ chunks: [ofOther], aborted: [OTHER_IMPORT] });
    expect(steps).toEqual([passingOver(OTHER_IMPORT), "commit"]);
  });

  test.each([
    ["nothing, though an import was aborted since", '{"attempts":1,"basis":"tiny 0"}', [OTHER_IMPORT], []],
    [
      "what it left out then",
      `{"attempts":1,"basis":"tiny 0","skippedImports":["${OTHER_IMPORT}"]}`,
      [],
      [OTHER_IMPORT],
    ],
  ])("leaves out of a range that a crash cut short %s", async (_, recordedNote, aborted, leftOut) => {
    const chunks = [chunkOf('{"$time":1600000001}'), ofOther];
    const before = await work({ chunks, aborted: leftOut });
    const after = await work({ chunks, recordedNote, aborted });
    expect(after.steps.slice(1)).toEqual(before.steps.slice(1));
    expect(after.bodies).toEqual(before.bodies);
    expect(after.abortedAmong).not.toHaveBeenCalled();
  });

  test("writes the same bytes under the same token when an insert failed", async () => {
    vi.useFakeTimers();
    const working = work({ insertFailures: 2 });
    await vi.advanceTimersByTimeAsync(1_000);
    const { steps, bodies } = await working;
    vi.useRealTimers();
    expect(steps.slice(1, 4)).toEqual(Array(3).fill(`insert events ${TOKEN}#0`));
    expect(bodies[1]?.equals(bodies[0] as Buffer) && bodies[2]?.equals(bodies[0] as Buffer)).toBe(true);
    expect(steps.at(-1)).toBe("commit");
  });

  test("commits nothing when it cannot write, and says why", async () => {
    vi.useFakeTimers();
    const working = expect(work({ insertFailures: Infinity })).rejects.toThrow("exception 210");
    await vi.advanceTimersByTimeAsync(120_000);
    await working;
    vi.useRealTimers();
  });

  test("writes live events without reporting them as an import", async () => {
    const { steps } = await work({ chunks: [chunkOf('{"$time":1600000001}', { source: "collect" })] });
    expect(steps).toEqual([BEGUN, `insert events ${TOKEN}#0`, "sync", "commit"]);
  });

  test("cuts a batch of very many short lines into inserts that fit the memory, the same ones each time", async () => {
    const many = (lines: number, sequence: number) =>
      chunkOf('{"$time":1600000001}\n'.repeat(lines), { sequence });
    const { steps } = await work({ chunks: [many(199_999, 0), many(1, 1), many(1, 2)] });
    expect(steps.filter((step) => !step.startsWith("range"))).toEqual([
      `insert events ${TOKEN}#0`,
      `insert events ${TOKEN}#1`,
      "sync",
      "progress 3",
      "commit",
    ]);
  });
});

describe("the queues of a worker", () => {
  const record = encodeRawChunk(chunkOf('{"$time":1600000001}\n'.repeat(200)));

  test("are consumed side by side: an express batch does not wait for the bulk batch in hand", async () => {
    const committed: Queue[] = [];
    const handled: Promise<void>[] = [];
    const log = logOf(async ({ queue = "bulk" }, handle) => {
      const records = Array<Buffer>(queue === "bulk" ? 200 : 1).fill(record);
      const commit = async () => void committed.push(queue);
      handled.push(handle(batchOf(records, { token: `log:events.raw:${queue}:5-9`, commit })));
      return CONSUMER;
    }, 2);
    await startWorkerOn(log);
    await Promise.all(handled);
    expect(committed).toEqual(["express", "bulk"]);
  });

  test("are closed when one of them cannot start", async () => {
    const closed: Queue[] = [];
    const log = logOf(async ({ queue = "bulk" }) => {
      if (queue === "bulk") throw new Error("no room in the group");
      return { ...CONSUMER, [Symbol.asyncDispose]: async () => void closed.push(queue) };
    }, 2);
    await expect(startWorkerOn(log)).rejects.toThrow("no room in the group");
    expect(closed).toEqual(["express"]);
  });
});
