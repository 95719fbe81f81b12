import type { ClickHouseClient } from "@clickhouse/client";
import { pause } from "../../schemas/async/pause.js";
import type { ErasureStore } from "../../schemas/records/erasure.js";
import { eraseArtifacts, eraseImportLogs } from "./erase-artifacts.js";

const ROUND_MS = 1_000;
/** How many rounds to wait after a store was down. */
const PAUSE_FACTOR = 5;

export interface EraserDependencies {
  clickhouse: ClickHouseClient;
  store: ErasureStore;
  /** Called when nothing is left of these artifacts. */
  onErased?: (artifacts: readonly string[]) => void;
  /** Called for every round that failed; the next one tries again. */
  onFailure: (error: unknown) => void;
  /** How long to wait between rounds. */
  roundMs?: number;
}

/** Erases the events of packages and pixels that were deleted. Any number of processes may run it. */
export function startEraser(dependencies: EraserDependencies): AsyncDisposable {
  const stop = new AbortController();
  const finished = eraseUntil(stop.signal, dependencies);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };
}

async function eraseUntil(signal: AbortSignal, dependencies: EraserDependencies): Promise<void> {
  const { roundMs = ROUND_MS } = dependencies;
  while (!signal.aborted) {
    try {
      await eraseDue(signal, dependencies);
    } catch (error) {
      dependencies.onFailure(error);
      await pause(roundMs * PAUSE_FACTOR, { signal });
    }
    await pause(roundMs, { signal });
  }
}

/** Blocks the owner's settlement: when only part is erased, it could restore an overridden version. */
async function eraseDue(
  signal: AbortSignal,
  { clickhouse, store, onErased }: EraserDependencies,
): Promise<void> {
  for (const ownerId of await store.dueOwners()) {
    if (signal.aborted) return;
    await store.asOnlySettlement(ownerId, async () => {
      const artifacts = await store.dueArtifacts(ownerId);
      if (artifacts.length === 0) return;
      const hadEvents = await eraseArtifacts(clickhouse, artifacts);
      const hadLogs = await eraseLogs(artifacts, { clickhouse, store });
      if (hadEvents || hadLogs) return store.putFound(artifacts);
      await store.putClean(artifacts);
      onErased?.(artifacts);
    });
  }
}

/** ClickHouse receives the ids in a URL. */
const IMPORTS_PER_PAGE = 1_000;

/** The logs of imports into these artifacts hold refused lines as they were sent. */
async function eraseLogs(
  artifacts: readonly string[],
  { clickhouse, store }: Pick<EraserDependencies, "clickhouse" | "store">,
): Promise<boolean> {
  let found = false;
  let after: string | undefined;
  do {
    const imports = await store.importsInto(artifacts, { after, limit: IMPORTS_PER_PAGE });
    if (imports.length > 0 && (await eraseImportLogs(clickhouse, imports))) found = true;
    after = imports.length < IMPORTS_PER_PAGE ? undefined : imports.at(-1);
  } while (after !== undefined);
  return found;
}
