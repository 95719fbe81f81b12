/** An import with chunks to settle, or with none left that only has to be finished. */
export interface DueImport {
  id: string;
  ownerId: string;
  /** Every chunk is written, so there is no reason to wait for more. */
  complete: boolean;
  /** All of its events must be removed. */
  retracted: boolean;
}

/** Chunks of one import that were written and not settled since, by their first and last receipt stamp. */
export interface UnsettledChunks {
  sequences: number[];
  /** How often each chunk was reported. A chunk that is reported again meanwhile stays unsettled. */
  reports: number[];
  firstStamp: number;
  lastStamp: number;
}

/** The limits of one step: its ids, and whole rows of retracted events, are held in memory. */
export interface SliceLimits {
  eventsMax: number;
  chunksMax: number;
}

/** The records of settlement in PostgreSQL. */
export interface SettlementStore {
  dueImports(): Promise<DueImport[]>;
  /** Aborts uploads whose process died and marks them for retraction. Answers how many. */
  abortAbandonedUploads(): Promise<number>;
  /** Runs `work` as the only settlement of the owner in any process; false if there is another one. */
  asOnlySettlement(ownerId: string, work: (owner: OwnerSettlement) => Promise<void>): Promise<boolean>;
}

/** The writes that need the owner's settlement lock. */
export interface OwnerSettlement {
  /** Batches that were staged and never closed, for example because of a crash. */
  stagedBatches(): Promise<string[]>;
  putStagedBatch(batch: string): Promise<void>;
  closeBatch(batch: string): Promise<void>;
  unsettledChunks(importId: string, limits: SliceLimits): Promise<UnsettledChunks | undefined>;
  /** False, without marking anything, if the import was retracted since: all its chunks must be settled again. */
  markSettled(due: Pick<DueImport, "id" | "retracted">, chunks: UnsettledChunks): Promise<boolean>;
  /**
   * Sets `done` and answers true if every chunk is written and settled; otherwise changes nothing and answers false.
   */
  finishIfComplete(importId: string): Promise<boolean>;
}
