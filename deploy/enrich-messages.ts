import type { LookupData } from "../enrich/lookups/load-lookup-data.js";
import type { ChunkOutcome } from "../schemas/chunk-outcome.js";
import type { LogLevel } from "./log.js";

/** What an enrichment thread is started with. The tables are shared memory, not copies. */
export interface ThreadData {
  share: { index: number; of: number };
  logDir: string;
  postgresUrl: string;
  clickhouseUrl: string;
  originKey: Uint8Array;
  lookupData: LookupData;
  logLevel: LogLevel;
}

export type ToThread = { stop: true } | { lookupData: LookupData };
export type FromThread = { ready: true } | { outcomes: ChunkOutcome[] } | { parked: number };
