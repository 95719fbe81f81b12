/** The PostgreSQL side of erasing the events of deleted packages and pixels. */
export interface ErasureStore {
  /** Owners with due artifacts. */
  dueOwners(): Promise<string[]>;
  /**
   * Deleted artifacts of the owner that may have events and to which no import writes any more: the imports that began
   * before the deletion are all settled, or are too old to wait for.
   */
  dueArtifacts(ownerId: string): Promise<string[]>;
  /** The imports into these artifacts alone, a page of them by id. */
  importsInto(
    artifacts: readonly string[],
    page: { after: string | undefined; limit: number },
  ): Promise<string[]>;
  /** Forgets the samples of these imports' logs. The counts stay. */
  emptySamples(imports: readonly string[]): Promise<void>;
  /** Imports that are retracted and settled, and whose logs may still be there. */
  retractedImports(limit: number): Promise<string[]>;
  /** Nothing was found of their logs: forgets the samples, too. */
  putLogsErased(imports: readonly string[]): Promise<void>;
  /** Runs `work` while the owner has no settlement in any process; false if there is one. */
  asOnlySettlement(ownerId: string, work: () => Promise<void>): Promise<boolean>;
  /** Events were found and are being erased. The artifacts become due again, after a longer time each time. */
  putFound(artifacts: readonly string[]): Promise<void>;
  /**
   * No events were found. The artifacts become due once more an hour after the deletion, for delayed events; then they
   * are erased for good.
   */
  putClean(artifacts: readonly string[]): Promise<void>;
}
