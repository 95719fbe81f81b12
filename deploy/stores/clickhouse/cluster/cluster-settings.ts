import type { ClickHouseSettings } from "@clickhouse/client";
import type { ClusterServers } from "../clickhouse-source.js";

/** Shorter than the time after which a client gives up. Until a dead server's session is over, an insert waits this long. */
const QUORUM_MS_MAX = 60_000;
/**
 * For a quorum below all servers: a server may lack rows whose insert was answered. One that was unavailable is read again
 * once it lacks nothing older.
 */
const DELAY_SECONDS_MAX = 2;
/**
 * For a quorum of all servers: only a server that was made anew may lack a row whose insert was answered, and that row is
 * older, because Keeper gives the old server up after 30 s. Two busy servers may wait for each other's last rows for a moment.
 */
const REMADE_DELAY_SECONDS_MAX = 20;

/**
 * The settings of every statement. Each of the first group, at another value, gives smaller numbers without an error.
 * Lists of ids and lists from subqueries are sent to all shards: a row and the row that removes it lie on one shard, an
 * event and its override may not.
 */
export function clusterSettings(
  { quorum }: ClusterServers["shards"][number],
  { shards }: Pick<ClusterServers, "shards">,
): ClickHouseSettings {
  const mayLack = shards.some((shard) => shard.quorum < shard.urls.length);
  return {
    skip_unavailable_shards: 0,
    optimize_skip_unused_shards: 0,
    distributed_group_by_no_merge: "0",
    distributed_product_mode: "global",
    load_balancing: "first_or_random",
    fallback_to_stale_replicas_for_distributed_queries: 0,
    insert_quorum: quorum > 1 ? String(quorum) : "0",
    insert_quorum_parallel: 1,
    insert_quorum_timeout: QUORUM_MS_MAX,
    // Also of one server that reads several shards: the limit is for the servers of each.
    max_replica_delay_for_distributed_queries: String(mayLack ? DELAY_SECONDS_MAX : REMADE_DELAY_SECONDS_MAX),
  };
}
