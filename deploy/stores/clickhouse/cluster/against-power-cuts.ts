import { startOf } from "../../../../aggregate/clickhouse/start-of.js";
import { syncInTurns } from "../../../../aggregate/clickhouse/sync-disks.js";
import type { ClickHouse, Shard } from "../../../../schemas/shards.js";

/**
 * Replicated tables write each part down before Keeper knows of it. Keeper has their tokens, and a replica fetches the parts
 * that it lacks. A server without Keeper does nothing of this: it is synced, and asked since when it runs.
 */
export function againstPowerCuts(
  tables: ClickHouse,
  replicates: () => Promise<boolean>,
): Pick<Shard, "sync" | "startedAt"> {
  const sync = syncInTurns(tables);
  let known: boolean | undefined;
  // Tables become replicated only while no program runs.
  const isReplicated = async () => (known ??= await replicates());
  return {
    sync: async () => ((await isReplicated()) ? undefined : sync()),
    startedAt: async () => ((await isReplicated()) ? 0 : startOf(tables)),
  };
}
