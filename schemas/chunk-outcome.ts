import type { LogEntry } from "./import-log.js";

/** What became of one chunk of an import: written to PostgreSQL by import and sequence, so that a replay repeats it. */
export interface ChunkOutcome {
  importId: string;
  sequence: number;
  receiptStamp: number;
  /** Non-blank lines. */
  eventsTotal: number;
  eventsImported: number;
  eventsFailed: number;
  /** The first entries of each class, at most LOG_SAMPLE_MAX. */
  errors: LogEntry[];
  warnings: LogEntry[];
}

/** Where enrichment reports to, and asks which imports still want their chunks. */
export interface ImportProgress {
  /** Of these imports, those that were aborted: their chunks are passed over. */
  abortedAmong(importIds: readonly string[]): Promise<string[]>;
  putChunks(outcomes: readonly ChunkOutcome[]): Promise<void>;
}
