import type { Shards } from "../../schemas/shards.js";
import { v7 as uuidv7 } from "uuid";
import { pause } from "../../schemas/async/pause.js";
import { WakeUp } from "../../schemas/async/wake-up.js";
import type { ImportEnding } from "../../schemas/records/import-store.js";
import type {
  FinishedImport,
  DueImport,
  OwnerSettlement,
  WrittenChunk,
} from "../../schemas/records/settlement.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { ImportPauses, OwnerGathering } from "./settlement-waits.js";
import { recountStaged, markRetracted, settle } from "./settle.js";

/** How often to look for chunks that another process wrote, and while there are none. */
const ROUND_MS = 150;
const IDLE_ROUND_MS = 500;
/**
 * Removing a million rows takes ClickHouse about 500 MB. A server takes 128 KiB of a parameter: some 2,900
 * UUIDs.
 */
const SLICE = { eventsMax: 1_000_000, chunksMax: 2_000 };
/** How often to look for uploads whose process has died. */
const SWEEP_MS = 2_000;
const OWNERS_AT_ONCE = 4;
/** A store that is down is not asked every round. */
const PAUSE_AFTER_FAILURE_MS = 2_000;

export interface SettlerDependencies {
  shards: Shards;
  /** Statements of api/features/imports. */
  store: {
    dueImports(): Promise<DueImport[]>;
    /** Aborts uploads whose process died and marks them for retraction. Answers how many. */
    abortAbandonedUploads(): Promise<number>;
    /** Runs `work` as the only settlement of the owner in any process; false if there is another one. */
    asOnlySettlement(ownerId: string, work: (owner: OwnerSettlement) => Promise<void>): Promise<boolean>;
  };
  /** Rung when this process wrote chunks: they are settled at once. */
  wakeUp?: WakeUp;
  onSettled?: (settlement: { versions: number; durationMs: number }) => void;
  onEnded?: (ending: ImportEnding, imports: number) => void;
  onDone?: (done: FinishedImport) => void;
  /** Called for every round that failed; the next one tries again. */
  onFailure: (error: unknown) => void;
}

/**
 * Finishes complete imports too, all of an owner together, each owner in one process at a time. Any number of
 * processes may run it.
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

async function settleUntil(
  signal: AbortSignal,
  { wakeUp = new WakeUp(), ...dependencies }: SettlerDependencies,
): Promise<void> {
  const pauses = new ImportPauses();
  const gathering = new OwnerGathering();
  const busy = new Map<string, Promise<unknown>>();
  let sweptAt = -Infinity;
  const failed = async (error: unknown) => {
    dependencies.onFailure(error);
    await pause(PAUSE_AFTER_FAILURE_MS, { signal });
  };
  while (!signal.aborted) {
    let isIdle = false;
    try {
      if (performance.now() - sweptAt >= SWEEP_MS) {
        pauses.forgetEnded();
        dependencies.onEnded?.("lost", await dependencies.store.abortAbandonedUploads());
        sweptAt = performance.now();
      }
      const due = await dependencies.store.dueImports();
      isIdle = due.length === 0;
      for (const [ownerId, imports] of byOwner(due, pauses)) {
        if (busy.has(ownerId) || busy.size >= OWNERS_AT_ONCE) continue;
        if (gathering.isWaiting(ownerId, imports)) continue;
        const settling = settleOwner(ownerId, imports, { ...dependencies, pauses, signal })
          .catch(failed)
          .finally(() => busy.delete(ownerId))
          // Others may have become complete meanwhile. An owner whose imports cannot end is left to the next round.
          .then((ended) => ended && wakeUp.ring());
        busy.set(ownerId, settling);
      }
    } catch (error) {
      await failed(error);
    }
    await wakeUp.pause(isIdle ? IDLE_ROUND_MS : ROUND_MS, { signal });
  }
  await Promise.all(busy.values());
}

function byOwner(due: readonly DueImport[], pauses: ImportPauses): Map<string, DueImport[]> {
  const owners = new Map<string, DueImport[]>();
  for (const one of due) {
    if (!one.complete && pauses.isPaused(one.id)) continue;
    owners.set(one.ownerId, [...(owners.get(one.ownerId) ?? []), one]);
  }
  return owners;
}

interface OwnerRound extends SettlerDependencies {
  pauses: ImportPauses;
  signal: AbortSignal;
}

/** Answers whether any of the imports ended. */
async function settleOwner(
  ownerId: string,
  imports: readonly DueImport[],
  round: OwnerRound,
): Promise<boolean> {
  let ended = 0;
  await round.store.asOnlySettlement(ownerId, async (owner) => {
    await recountStaged(round.shards, owner);
    const completeFirst = [...imports].sort((a, b) => Number(b.complete) - Number(a.complete));
    for (const retracted of [false, true]) {
      const together = completeFirst.filter((one) => one.retracted === retracted);
      if (together.length > 0) ended += await settleTogether(together, owner, { ...round, retracted });
    }
  });
  return ended > 0;
}

/** Answers how many of the imports ended. */
async function settleTogether(
  imports: readonly DueImport[],
  owner: OwnerSettlement,
  round: OwnerRound & { retracted: boolean },
): Promise<number> {
  const startedAt = performance.now();
  if (round.retracted) await markRetracted(round.shards, idsOf(imports));
  const { versions, settled } = await settleSlices(imports, owner, round);
  const durationMs = performance.now() - startedAt;
  if (settled.length > 0) round.onSettled?.({ versions, durationMs });
  if (round.signal.aborted) return 0;
  if (settled.some(({ complete }) => complete)) {
    // An export that comes after the end of an import may ask any server.
    await round.shards.catchUp();
    passFaultPoint("before-done");
  }
  const finished = await owner.finishComplete(idsOf(settled));
  if (finished.length > 0) round.onEnded?.("done", finished.length);
  for (const done of finished) round.onDone?.(done);
  for (const { id, complete } of settled)
    if (complete) round.pauses.forget(id);
    else round.pauses.startAfterSettlement(id, durationMs);
  return finished.length;
}

/** Answers the imports that were not retracted meanwhile: the next round settles those with all their chunks. */
async function settleSlices(
  imports: readonly DueImport[],
  owner: OwnerSettlement,
  { shards, signal, retracted }: OwnerRound & { retracted: boolean },
): Promise<{ versions: number; settled: DueImport[] }> {
  let versions = 0;
  let settled = [...imports];
  let left = settled;
  while (!signal.aborted) {
    const chunks = await owner.unsettledChunks(idsOf(left), SLICE);
    if (chunks.length === 0) break;
    versions += await settle(shards, { chunks, retracted }, { batch: uuidv7(), owner });
    const marked = new Set(await owner.markSettled(left, chunks));
    settled = settled.filter((one) => marked.has(one.id) || !left.includes(one));
    // Imports whose chunks still arrive get one slice: the owner's other imports do not wait for their end.
    left = left.filter(({ id, complete }) => complete && marked.has(id));
    if (left.length === 0 || !isFull(chunks)) break;
  }
  return { versions, settled };
}

function isFull(chunks: readonly WrittenChunk[]): boolean {
  const events = chunks.reduce((sum, chunk) => sum + chunk.events, 0);
  return chunks.length >= SLICE.chunksMax || events >= SLICE.eventsMax;
}

function idsOf(imports: readonly DueImport[]): string[] {
  return imports.map(({ id }) => id);
}
