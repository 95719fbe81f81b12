import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { ClickHouseClient } from "@clickhouse/client";
import { type WorkerDependencies, startWorker } from "../../../enrich/start-worker.js";
import type { EventLog, LogBatch, LogConsumer } from "../../../schemas/records/event-log.js";
import { oneServer } from "../../../deploy/stores/clickhouse/connect-shards.js";
import { dockerPackage, ids, tinyLookups } from "./lines/chunk-of.js";

export const notHere = () => Promise.reject(new Error("not here"));
export const CONSUMER: LogConsumer = {
  crashed: new Promise<Error>(() => undefined),
  [Symbol.asyncDispose]: async () => undefined,
};

/** A log whose consumers do as `consume` says. */
export function logOf(consume: EventLog["consume"], partitions = 1): EventLog {
  return { partitions, append: notHere, consume, [Symbol.asyncDispose]: async () => undefined };
}

export function batchOf(records: readonly Buffer[], over: Partial<LogBatch> & { token: string }): LogBatch {
  return {
    partition: 0,
    records: records.map((value, index) => ({ offset: 5 + index, value })),
    recordedNote: undefined,
    ownedForMs: Infinity,
    recordRange: async () => undefined,
    commit: async () => undefined,
    ...over,
  };
}

/** One insert, as a client of ClickHouse is asked for it. */
export interface Insert {
  query: string;
  values: Readable;
  clickhouse_settings: Record<string, string>;
}

export const bytesOf = ({ values }: Insert): Promise<Buffer> => buffer(values);

/** Answers an insert with nothing but these headers. */
export const inserted = (headers = {}) => ({ stream: Readable.from([]), response_headers: headers });

/** A worker that knows one package, and whose stores take everything. */
export function startWorkerOn(
  log: EventLog,
  { client = {}, ...over }: Partial<WorkerDependencies> & { client?: object } = {},
) {
  return startWorker({
    log,
    shards: oneServer({
      exec: async () => inserted(),
      command: async () => undefined,
      ...client,
    } as unknown as ClickHouseClient),
    lookups: () => tinyLookups,
    ids,
    resolveArtifact: async () => dockerPackage,
    resolveLive: async () => [dockerPackage],
    progress: { abortedAmong: async () => [], putChunks: async () => [], replaceDeadLetters: notHere },
    recounts: { latest: async () => "0", whileInserting: (work) => work(), recount: notHere },
    putDeadLetter: notHere,
    share: { index: 0, of: 1 },
    ...over,
  });
}
