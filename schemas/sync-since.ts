import type { Shards } from "./shards.js";

/**
 * `Shards.sync` for rows that were inserted since `start`, which `Shards.startedAt` answered before. Rejects if the server
 * started again in between: a power cut may have taken rows that it had acknowledged. The caller does its work again.
 */
export async function syncSince(shards: Pick<Shards, "sync" | "startedAt">, start: number): Promise<void> {
  await shards.sync();
  await requireSameStart(shards, start);
}

/** For callers with nothing to sync: what they read may be missing rows that they had inserted. */
export async function requireSameStart(shards: Pick<Shards, "startedAt">, start: number): Promise<void> {
  if (!isSameStart(start, await shards.startedAt()))
    throw new Error("ClickHouse started again before the rows of this work were on its disk");
}

export function isSameStart(one: number, other: number): boolean {
  return Math.abs(one - other) < SAME_START_MS;
}

/** More than the answers of one start differ by, and less than a server takes from one start to the next. */
const SAME_START_MS = 1_500;
