import type { LogEntry } from "./import-log.js";

/** PostgreSQL stores that of an import by import and sequence, so that a replay changes nothing. */
export interface ChunkOutcome {
  importId: string;
  sequence: number;
  receiptStamp: number;
  eventsTotal: number;
  eventsImported: number;
  eventsFailed: number;
  /** Of the imported ones. */
  eventsWithWarnings: number;
  /** Lines that hold no event, which are not among the total. */
  linesSkipped: number;
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
  firstLine: number;
  lines: number;
  record: Uint8Array;
  /** A sentence for an operator. */
  reason: string;
  tries: number;
}
