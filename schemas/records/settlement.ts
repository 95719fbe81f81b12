/** An import with chunks to settle, or with none left that only has to be finished. */
export interface DueImport {
  id: string;
  ownerId: string;
  /** Every chunk is written, so there is no reason to wait for more. */
  complete: boolean;
  /** All of its events must be removed. */
  retracted: boolean;
  /** Whether another small import of the owner is in the log and will be written within moments. */
  followed: boolean;
}

/** A chunk of an import that was written and not settled since. */
export interface WrittenChunk {
  importId: string;
  sequence: number;
  /** How often it was reported. If it is reported again meanwhile, it stays unsettled. */
  reports: number;
  stamp: number;
  events: number;
}

/** The limits of one step: its ids, and whole rows of retracted events, are held in memory. */
export interface SliceLimits {
  eventsMax: number;
  chunksMax: number;
}

/** Keeps apart, in all processes, the inserts into `events` and the recounts of its views, and those who number addresses. */
export interface InsertLock {
  /** Others may insert at the same time. */
  whileInserting<T>(work: () => Promise<T>): Promise<T>;
  /** Nobody inserts meanwhile. Events before the day `from`, if any, were removed, and their daily sums stay as they are. */
  whileRecounting<T>(work: (from: string | undefined) => Promise<T>): Promise<T>;
  /** Nobody else gives numbers to addresses, or takes them away. */
  whileNumbering<T>(work: () => Promise<T>): Promise<T>;
}

/** The writes that need the owner's settlement lock. */
export interface OwnerSettlement extends InsertLock {
  /** Batches that were staged and never closed, for example because of a crash. */
  stagedBatches(): Promise<string[]>;
  putStagedBatch(batch: string): Promise<void>;
  closeBatch(batch: string): Promise<void>;
  /** By the order of the imports, then of receipt; at least one chunk where there is any. */
  unsettledChunks(importIds: readonly string[], limits: SliceLimits): Promise<WrittenChunk[]>;
  /** Answers the ids of the imports that were not retracted since. Of the others no chunk is marked. */
  markSettled(
    imports: readonly Pick<DueImport, "id" | "retracted">[],
    chunks: readonly WrittenChunk[],
  ): Promise<string[]>;
  /** Sets `done` where every chunk is written and settled, and answers these imports. */
  finishComplete(importIds: readonly string[]): Promise<FinishedImport[]>;
}

export interface FinishedImport {
  id: string;
  owner: string;
  eventsImported: number;
  eventsFailed: number;
  seconds: number;
}

/** Imports whose events may still be changed by settlement. */
export interface UnsettledImports {
  imports: readonly string[];
  /** A whole number as text, because it exceeds the exact range of a double. */
  fromVersion: string;
  /** UUIDs of those among `imports` whose events must all be removed. */
  retracted: readonly string[];
  /** UUIDs of erasures whose versions of events are hidden while their rows are deleted. */
  erasures?: readonly string[];
  /** Whether any import may have been settled since retracted events were last read. */
  changed: boolean;
}
