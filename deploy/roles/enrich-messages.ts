import type { LookupData } from "../../enrich/lookups/load-lookup-data.js";
import type { Inserted } from "../../enrich/batches/insert-block.js";
import type { WrittenBatch } from "../../enrich/start-worker.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { QUEUES, type Queue } from "../../schemas/records/event-log.js";
import type { EventRetention } from "../../schemas/event-retention.js";
import type { ClickHouseSource } from "../stores/clickhouse/clickhouse-source.js";
import type { EventLogSource } from "../stores/open-event-log.js";
import type { LogLevel } from "../process/log.js";

/** The `workerData` of an enrichment thread. The tables are shared memory, not copies. */
export interface ThreadData {
  share: { index: number; of: number };
  logSource: EventLogSource;
  postgresUrl: string;
  eventRetention: EventRetention;
  clickhouseSource: ClickHouseSource;
  originKey: Uint8Array;
  lookupData: LookupData;
  logLevel: LogLevel;
  /** `MUTEX_BYTES` long, shared by all threads. */
  mutexMemory: SharedArrayBuffer;
  arrivingMemory: SharedArrayBuffer;
}

/** Each queue of each worker has an index of its own in the mutex. */
export function mutexIndex(worker: number, queue: Queue): number {
  return worker * QUEUES.length + QUEUES.indexOf(queue);
}

export type ToThread = { stop: true } | { lookupData: LookupData };
export type FromThread =
  | { ready: true }
  | { outcomes: ChunkOutcome[] }
  | { deadLetters: number }
  | { written: WrittenBatch }
  | { inserted: Inserted }
  | { recordsLost: number };
