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

/** A record of the event log that enrichment could not process. Consumption of its partition continued after it. */
export interface DeadLetter {
  /** `<log id>:<topic>:<partition>:<offset>`. Makes a replay store it once. */
  logPosition: string;
  partition: number;
  offset: number;
  /** Undefined if the record is too damaged to name its import. */
  importId: string | undefined;
  sequence: number;
  /** 1-based. */
  firstLine: number;
  lines: number;
  /** The record as it is in the log. */
  record: Uint8Array;
  /** A sentence for an operator. */
  reason: string;
  /** The number of attempts to enrich it. */
  tries: number;
}
