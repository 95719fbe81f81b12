import type { LogEntry } from "./import-log.js";

/**
 * The result of one chunk. For an import, PostgreSQL stores it by import and sequence, so that a replay changes
 * nothing.
 */
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
  /** The chunk was not imported. A later outcome after a retry replaces this one. */
  deadLetter?: true;
  /** A chunk of live events. No import waits for it: its outcome is only counted. */
  live?: true;
}

/** Identifies the entry in an import's log that reports a dead letter. */
export interface DeadLetterEntry {
  importId: string;
  line: number;
}

/** Receives the reports of enrichment, and answers which imports were aborted. */
export interface ImportProgress {
  /** The aborted ones among these imports. Their chunks are skipped. */
  abortedAmong(importIds: readonly string[]): Promise<string[]>;
  /**
   * Counts each chunk once, whatever is replayed. Answers the log entries of those chunks that were dead letters
   * before: delete these entries, then call `replaceDeadLetters`.
   */
  putChunks(outcomes: readonly ChunkOutcome[]): Promise<DeadLetterEntry[]>;
  /** Replaces the outcome of each chunk that was a dead letter; changes nothing for other chunks. */
  replaceDeadLetters(outcomes: readonly ChunkOutcome[]): Promise<void>;
}
