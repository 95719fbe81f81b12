/** An import that has chunks to settle, or none left and only waits to be finished. */
export interface DueImport {
  id: string;
  ownerId: string;
  /** Every chunk is written: nothing more will come, so there is no reason to wait. */
  complete: boolean;
  /** None of its events may stay. */
  retracted: boolean;
}

/** Chunks of one import that were written and not settled since: their receipt stamps, first and last. */
export interface UnsettledChunks {
  sequences: number[];
  /** How often each had been reported: one that comes again meanwhile stays unsettled. */
  reports: number[];
  firstStamp: number;
  lastStamp: number;
}

/** How much is settled at once: ids are held in memory, and so are whole rows of what is taken back. */
export interface SliceLimits {
  eventsMax: number;
  chunksMax: number;
}

/** The records of settlement in PostgreSQL. */
export interface SettlementStore {
  dueImports(): Promise<DueImport[]>;
  /** Ends uploads whose process died: aborted, and to be retracted. Answers how many. */
  abortAbandonedUploads(): Promise<number>;
  /** Runs `work` as the only settlement of the owner anywhere; false when another is at it. */
  asOnlySettlement(ownerId: string, work: (owner: OwnerSettlement) => Promise<void>): Promise<boolean>;
}

/** What may be done to an owner's imports by the one that holds the owner's settlement lock. */
export interface OwnerSettlement {
  /** Batches that were staged and never closed: a crash may have cut them short. */
  stagedBatches(): Promise<string[]>;
  putStagedBatch(batch: string): Promise<void>;
  closeBatch(batch: string): Promise<void>;
  unsettledChunks(importId: string, limits: SliceLimits): Promise<UnsettledChunks | undefined>;
  /** False, and nothing marked, when the import was retracted since: all its chunks have to be settled once more. */
  markSettled(due: Pick<DueImport, "id" | "retracted">, chunks: UnsettledChunks): Promise<boolean>;
  /** `done` when every chunk is written and settled, and then true; otherwise nothing. */
  finishIfComplete(importId: string): Promise<boolean>;
}
