import type { Shards } from "../../schemas/shards.js";
import { eraseArtifacts, eraseImportLogs } from "./erase-artifacts.js";
import { importPages, IMPORTS_PER_PAGE } from "./import-pages.js";
import { startRounds, type Rounds } from "./start-rounds.js";

export interface EraserDependencies extends Rounds {
  shards: Shards;
  /** Statements of api/erasures/deleted-artifacts.ts. */
  store: {
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
  };
  /** Called when nothing is left of these artifacts. */
  onErased?: (artifacts: readonly string[]) => void;
}

/**
 * Erases the events of packages and pixels that were deleted, and the logs of retracted imports. Any number of processes may
 * run it.
 */
export function startEraser(dependencies: EraserDependencies): AsyncDisposable {
  return startRounds(async (signal) => {
    await eraseDue(signal, dependencies);
    await eraseRetracted(dependencies);
  }, dependencies);
}

/** Blocks the owner's settlement: when only part is erased, it could restore an overridden version. */
async function eraseDue(signal: AbortSignal, { shards, store, onErased }: EraserDependencies): Promise<void> {
  for (const ownerId of await store.dueOwners()) {
    if (signal.aborted) return;
    await store.asOnlySettlement(ownerId, async () => {
      const artifacts = await store.dueArtifacts(ownerId);
      if (artifacts.length === 0) return;
      const hadEvents = await eraseArtifacts(shards, artifacts);
      const hadLogs = await eraseLogs(artifacts, { shards, store });
      if (hadEvents || hadLogs) return store.putFound(artifacts);
      await store.putClean(artifacts);
      onErased?.(artifacts);
    });
  }
}

/** The refused lines of a retracted import go with its events. */
async function eraseRetracted({ shards, store }: EraserDependencies): Promise<void> {
  const imports = await store.retractedImports(IMPORTS_PER_PAGE);
  if (imports.length === 0 || (await eraseImportLogs(shards, imports))) return;
  await store.putLogsErased(imports);
}

/** The logs of imports into these artifacts hold refused lines as they were sent. The samples in their records go as well. */
async function eraseLogs(
  artifacts: readonly string[],
  { shards, store }: Pick<EraserDependencies, "shards" | "store">,
): Promise<boolean> {
  let found = false;
  for await (const imports of importPages((page) => store.importsInto(artifacts, page))) {
    if (await eraseImportLogs(shards, imports)) found = true;
    await store.emptySamples(imports);
  }
  return found;
}
