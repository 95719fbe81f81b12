import type { ClickHouseClient } from "@clickhouse/client";
import { v7 as uuidv7 } from "uuid";
import { pause } from "../../schemas/async/pause.js";
import type { ImportEnding } from "../../schemas/records/import-store.js";
import type { DueImport, OwnerSettlement, SettlementStore } from "../../schemas/records/settlement.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { applyBatch, markRetracted, settle } from "./settle.js";

const ROUND_MS = 150;
/** A million ids take ClickHouse about 200 MB; removing every row of 256 chunks takes about 500 MB. */
const SLICE = { eventsMax: 1_000_000, chunksMax: 256 };
/** How often to look for uploads whose process has died. */
const SWEEP_MS = 2_000;
/** Pause of an import that still receives chunks: four times its last settlement, at least 5 s. */
const PAUSE_MS_MIN = 5_000;
const PAUSE_FACTOR = 4;
const OWNERS_AT_ONCE = 4;
/** A store that is down is not asked every round. */
const PAUSE_AFTER_FAILURE_MS = 2_000;

export interface SettlerDependencies {
  clickhouse: ClickHouseClient;
  store: SettlementStore;
  onSettled?: (settlement: { importId: string; versions: number; durationMs: number }) => void;
  /** Called with the number of imports that ended here. */
  onEnded?: (ending: ImportEnding, imports: number) => void;
  /** Called for every round that failed; the next one tries again. */
  onFailure: (error: unknown) => void;
}

/**
 * Settles imports as their chunks arrive and finishes complete ones. Several owners are settled side by side, each in
 * one process at a time. Any number of processes may run it.
 */
export function startSettler(dependencies: SettlerDependencies): AsyncDisposable {
  const stop = new AbortController();
  const finished = settleUntil(stop.signal, dependencies);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };
}

async function settleUntil(signal: AbortSignal, dependencies: SettlerDependencies): Promise<void> {
  const pauses = new Map<string, number>();
  const busy = new Map<string, Promise<void>>();
  let sweptAt = 0;
  const failed = async (error: unknown) => {
    dependencies.onFailure(error);
    await pause(PAUSE_AFTER_FAILURE_MS, { signal });
  };
  while (!signal.aborted) {
    try {
      if (Date.now() - sweptAt >= SWEEP_MS) {
        dependencies.onEnded?.("lost", await dependencies.store.abortAbandonedUploads());
        sweptAt = Date.now();
      }
      for (const [ownerId, imports] of byOwner(await dependencies.store.dueImports(), pauses)) {
        if (busy.has(ownerId) || busy.size >= OWNERS_AT_ONCE) continue;
        const settling = settleOwner(ownerId, imports, { ...dependencies, pauses, signal })
          .catch(failed)
          .finally(() => busy.delete(ownerId));
        busy.set(ownerId, settling);
      }
    } catch (error) {
      await failed(error);
    }
    await pause(ROUND_MS, { signal });
  }
  await Promise.all(busy.values());
}

function byOwner(due: readonly DueImport[], pauses: ReadonlyMap<string, number>): Map<string, DueImport[]> {
  const owners = new Map<string, DueImport[]>();
  const now = Date.now();
  for (const one of due) {
    if (!one.complete && (pauses.get(one.id) ?? 0) > now) continue;
    owners.set(one.ownerId, [...(owners.get(one.ownerId) ?? []), one]);
  }
  return owners;
}

interface OwnerRound extends SettlerDependencies {
  pauses: Map<string, number>;
  signal: AbortSignal;
}

async function settleOwner(ownerId: string, imports: readonly DueImport[], round: OwnerRound): Promise<void> {
  await round.store.asOnlySettlement(ownerId, async (owner) => {
    for (const batch of await owner.stagedBatches()) {
      await applyBatch(round.clickhouse, batch);
      await owner.closeBatch(batch);
    }
    const completeFirst = [...imports].sort((a, b) => Number(b.complete) - Number(a.complete));
    for (const one of completeFirst) await settleImport(one, owner, round);
  });
}

async function settleImport(one: DueImport, owner: OwnerSettlement, round: OwnerRound): Promise<void> {
  const startedAt = Date.now();
  if (one.retracted) await markRetracted(round.clickhouse, one.id);
  let versions = 0;
  // An import whose chunks still arrive gets one slice: the owner's other imports do not wait for its end.
  for (let slices = 0; !round.signal.aborted && (one.complete || slices === 0); slices++) {
    const chunks = await owner.unsettledChunks(one.id, SLICE);
    if (chunks === undefined) break;
    versions += await settle(
      round.clickhouse,
      { importId: one.id, retracted: one.retracted, ...chunks },
      { batch: uuidv7(), owner },
    );
    // It was retracted meanwhile. The next round sees that; this one would settle the same chunks for ever.
    if (!(await owner.markSettled(one, chunks))) return;
  }
  const durationMs = Date.now() - startedAt;
  round.onSettled?.({ importId: one.id, versions, durationMs });
  if (round.signal.aborted) return;
  if (one.complete) passFaultPoint("before-done");
  if (await owner.finishIfComplete(one.id)) round.onEnded?.("done", 1);
  if (one.complete) round.pauses.delete(one.id);
  else round.pauses.set(one.id, Date.now() + Math.max(PAUSE_MS_MIN, durationMs * PAUSE_FACTOR));
}
