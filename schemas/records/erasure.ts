/** The PostgreSQL side of erasing the events of deleted packages and pixels. */
export interface ErasureStore {
  /** Owners of whom `dueArtifacts` has something. */
  dueOwners(): Promise<string[]>;
  /**
   * Deleted artifacts of the owner that may have events and that no import writes to any more: those that began before the
   * deletion are all settled, or it is so long ago that waiting for them makes no sense.
   */
  dueArtifacts(ownerId: string): Promise<string[]>;
  /** Runs `work` while nothing of the owner is settled anywhere; false when something is. */
  asOnlySettlement(ownerId: string, work: () => Promise<void>): Promise<boolean>;
  /** Something was found and is being erased: they are due again, later each time. */
  putFound(artifacts: readonly string[]): Promise<void>;
  /** Nothing was found: they are due once more after an hour, for what hung on its way; then they are erased for good. */
  putClean(artifacts: readonly string[]): Promise<void>;
}
