import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { describe, expect, test } from "vitest";
import { type WorkerDependencies, startWorker } from "../../../enrich/start-worker.js";
import type { EventLog, Lane, LogBatch, LogConsumer } from "../../../schemas/records/event-log.js";
import { encodeRawChunk } from "../../../schemas/records/raw-chunk.js";
import { chunkOf, dockerPackage, tinyLookups } from "./lines/chunk-of.js";
import { oneServer } from "../../../deploy/stores/clickhouse/connect-shards.js";

const NEVER = new Promise<Error>(() => undefined);
const NOT_HERE = () => Promise.reject(new Error("not here"));

/** A log of two lanes, whose consumers do as `consume` says. */
function logOf(
  consume: (lane: Lane, handle: (batch: LogBatch) => Promise<void>) => Promise<void>,
  onClosed: (lane: Lane) => void = () => undefined,
): EventLog {
  return {
    partitions: 2,
    append: NOT_HERE,
    async consume({ lane }, handle): Promise<LogConsumer> {
      if (lane === undefined) throw new Error("a worker names its lanes");
      await consume(lane, handle);
      return { crashed: NEVER, [Symbol.asyncDispose]: async () => onClosed(lane) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function workerOn(log: EventLog): WorkerDependencies {
  const exec = async () => ({ stream: Readable.from([]), response_headers: {} });
  return {
    log,
    shards: oneServer({ exec } as unknown as ClickHouseClient),
    lookups: () => tinyLookups,
    resolveArtifact: async () => dockerPackage,
    resolveLive: async () => [dockerPackage],
    progress: { abortedAmong: async () => [], putChunks: async () => [], replaceDeadLetters: NOT_HERE },
    putDeadLetter: NOT_HERE,
    share: { index: 0, of: 1 },
  };
}

function batchOf(lane: Lane, { chunks, committed }: { chunks: number; committed: Lane[] }): LogBatch {
  const value = encodeRawChunk(chunkOf('{"$time":1}\n'.repeat(200)));
  return {
    partition: 0,
    records: Array.from({ length: chunks }, (_, offset) => ({ offset, value })),
    token: `log:events.raw:${lane}:0-${chunks - 1}`,
    recordedNote: undefined,
    ownedForMs: Infinity,
    recordRange: async () => undefined,
    commit: async () => void committed.push(lane),
  };
}

describe("the lanes of a worker", () => {
  test("are consumed side by side: an express batch does not wait for the bulk batch in hand", async () => {
    const committed: Lane[] = [];
    const handled: Promise<void>[] = [];
    const log = logOf(async (lane, handle) => {
      const chunks = lane === "bulk" ? 200 : 1;
      handled.push(handle(batchOf(lane, { chunks, committed })));
    });
    await startWorker(workerOn(log));
    await Promise.all(handled);
    expect(committed).toEqual(["express", "bulk"]);
  });

  test("are closed when one of them cannot start", async () => {
    const closed: Lane[] = [];
    const consume = async (lane: Lane) => {
      if (lane === "bulk") throw new Error("no room in the group");
    };
    const starting = startWorker(workerOn(logOf(consume, (lane) => closed.push(lane))));
    await expect(starting).rejects.toThrow("no room in the group");
    expect(closed).toEqual(["express"]);
  });
});
