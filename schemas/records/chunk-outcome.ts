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
