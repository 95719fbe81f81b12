import type { LogEntry } from "./import-log.js";

/** What became of one chunk. That of an import is written to PostgreSQL by import and sequence, so that a replay repeats it. */
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
  /** Nothing of it was imported: it waits for an operator, and a later outcome of the same chunk replaces this one. */
  setAside?: true;
  /** Of live events: no import waits for it, and nothing is written of it. */
  live?: true;
}

/** The entry in an import's log that says that a chunk was set aside. */
export interface SetAsideEntry {
  importId: string;
  line: number;
}

/** Where enrichment reports to, and asks which imports still want their chunks. */
export interface ImportProgress {
  /** Of these imports, those that were aborted: their chunks are passed over. */
  abortedAmong(importIds: readonly string[]): Promise<string[]>;
  /**
   * Counts each chunk once, whatever is replayed. Answers what the log says of those among them that had been set
   * aside: when that is taken back, `replaceSetAside` lets the new outcomes take their place.
   */
  putChunks(outcomes: readonly ChunkOutcome[]): Promise<SetAsideEntry[]>;
  /** Once for each chunk that had been set aside; of others, nothing changes. */
  replaceSetAside(outcomes: readonly ChunkOutcome[]): Promise<void>;
}
