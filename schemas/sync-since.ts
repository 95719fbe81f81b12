import type { Shards } from "./shards.js";

/** What `Shards.startedAt` answers. */
export type Starts = readonly number[];

/**
 * `Shards.sync` for rows that were inserted since `start`, which `Shards.startedAt` answered before. Rejects if a server
 * started again in between: a power cut may have taken rows that it had acknowledged. The caller does its work again.
 */
export async function syncSince(shards: Pick<Shards, "sync" | "startedAt">, start: Starts): Promise<void> {
  await shards.sync();
  await requireSameStart(shards, start);
}

/** For callers with nothing to sync: what they read may be missing rows that they had inserted. */
export async function requireSameStart(shards: Pick<Shards, "startedAt">, start: Starts): Promise<void> {
  const now = await shards.startedAt();
  if (!start.every((one, shard) => isSameStart(one, now[shard] ?? 0)))
    throw new Error("ClickHouse restarted before the rows of this operation were synced to disk");
}

export function isSameStart(one: number, other: number): boolean {
  return Math.abs(one - other) < SAME_START_MS;
}

/** More than the answers of one start differ by, and less than a server takes from one start to the next. */
const SAME_START_MS = 1_500;
