import type { LogEntry } from "./import-log.js";

/** The result of one chunk. Imports: stored in PostgreSQL by import and sequence, so that a replay changes nothing. */
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
  /** Nothing of it was imported. A later outcome of the same chunk, after a retry, replaces this one. */
  deadLetter?: true;
  /** A chunk of live events: no import waits for it, and its outcome is only counted. */
  live?: true;
}

/** Names the entry in an import's log that reports a dead letter. */
export interface DeadLetterEntry {
  importId: string;
  line: number;
}

/** Where enrichment reports to, and learns which imports were aborted. */
export interface ImportProgress {
  /** The aborted ones among these imports: their chunks are skipped. */
  abortedAmong(importIds: readonly string[]): Promise<string[]>;
  /**
   * Counts each chunk once, whatever is replayed. Answers the log entries of chunks among them that were dead letters
   * before: delete those entries, then call `replaceDeadLetters`.
   */
  putChunks(outcomes: readonly ChunkOutcome[]): Promise<DeadLetterEntry[]>;
  /** Puts the new outcome in the place of each dead letter's; changes nothing for other chunks. */
  replaceDeadLetters(outcomes: readonly ChunkOutcome[]): Promise<void>;
}
