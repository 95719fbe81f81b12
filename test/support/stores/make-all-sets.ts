import assert from "node:assert/strict";
import {
  firstGroup,
  makeSets,
  readStaleDays,
  type StaleDay,
} from "../../../aggregate/address-sets/make-sets.js";
import type { Shards } from "../../../schemas/shards.js";

/** Makes the sets of all days at once; answers those that changed meanwhile. Several servers have none. */
export async function makeAllSets({ shards }: { shards: Shards }): Promise<StaleDay[]> {
  const [shard, ...others] = shards.shards;
  if (shard === undefined || shard.name !== undefined || others.length > 0) return [];
  const notSynced = { ...shards, sync: async () => undefined };
  const stale = await readStaleDays(shard.tables);
  for (let left = stale; left.length > 0; left = left.slice(firstGroup(left).length))
    assert.equal(await makeSets(notSynced, shard.tables, firstGroup(left)), true);
  return readStaleDays(shard.tables);
}
