import { pause, startRepeating, type Repetition } from "../../schemas/async/pause.js";
import type { InsertLock } from "../../schemas/records/settlement.js";
import type { ClickHouse, Shards } from "../../schemas/shards.js";
import { firstGroup, makeSets, readStaleDays, type StaleDay } from "./make-sets.js";

export interface AddressSetsDependencies extends Repetition, Pick<InsertLock, "whileNumbering"> {
  shards: Shards;
  /** Called after each look that made sets. */
  onMade?: (days: number) => void;
  /** Called when no numbers are left for further addresses. */
  onFull?: () => void;
}

/** A day that changed since the look before is not at rest. */
const LOOK_EVERY_MS = 60_000;
/** Three times as long as it worked, so that it takes a quarter of a core. */
const REST = 3;

/**
 * Makes sets of the addresses of days at rest, the newest first, for as long as it is not disposed of. Any number of
 * processes may run it. Several servers of ClickHouse have no sets: their numbers would differ.
 */
export function startAddressSets(dependencies: AddressSetsDependencies): AsyncDisposable {
  const { shards, onMade, onFull, everyMs = LOOK_EVERY_MS } = dependencies;
  let before = new Map<string, string>();
  const look = async (signal: AbortSignal) => {
    const server = onlyServer(shards);
    if (server === undefined) return;
    const atRest = before;
    before = new Map();
    let made = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const { stale, days, full } = await dependencies.whileNumbering(() => makeNext(shards, server, atRest));
      before = new Map(stale.map((day) => [keyOf(day), day.fingerprint]));
      if (full) return onFull?.();
      made += days.length;
      if (days.length === 0) break;
      await pause(REST * (performance.now() - startedAt), { signal });
    }
    if (made > 0) onMade?.(made);
  };
  return startRepeating(look, { ...dependencies, everyMs });
}

function onlyServer({ shards: [first, ...others] }: Shards): ClickHouse | undefined {
  return first?.name === undefined && others.length === 0 ? first?.tables : undefined;
}

/** Each of the days at rest is made once, also where its set is stale at once. */
async function makeNext(shards: Shards, server: ClickHouse, atRest: Map<string, string>) {
  const stale = await readStaleDays(server);
  const days = firstGroup(stale.filter((day) => atRest.get(keyOf(day)) === day.fingerprint));
  for (const day of days) atRest.delete(keyOf(day));
  const full = days.length > 0 && !(await makeSets(shards, server, days));
  return { stale, days, full };
}

function keyOf({ package: id, date }: StaleDay): string {
  return `${id} ${date}`;
}
