import type { Shards } from "../../schemas/shards.js";
import type { ErasureStore } from "../../schemas/records/erasure.js";
import { eraseArtifacts, eraseImportLogs } from "./erase-artifacts.js";
import { importPages, IMPORTS_PER_PAGE } from "./import-pages.js";
import { startRounds, type Rounds } from "./start-rounds.js";

export interface EraserDependencies extends Rounds {
  shards: Shards;
  store: ErasureStore;
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
