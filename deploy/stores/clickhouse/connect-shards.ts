import type { ResultSource } from "../../../aggregate/queries/open-rows.js";
import { syncInTurns } from "../../../aggregate/clickhouse/sync-disks.js";
import { startOf } from "../../../aggregate/clickhouse/start-of.js";
import type { ClickHouse, Shard, Shards } from "../../../schemas/shards.js";
import { type ClickHouseSource, clusterServers } from "./clickhouse-source.js";
import { connectCluster, connectClusterResults } from "./cluster/connect-cluster.js";
import { connectClickHouse } from "./connect-clickhouse.js";
import { connectResults } from "./connect-results.js";

/** Clients of the servers of ClickHouse: of one, or of a cluster. */
export function connectShards({ url, cluster, isEmbedded }: ClickHouseSource): Shards & AsyncDisposable {
  if (cluster !== undefined) return connectCluster(clusterServers(url, cluster));
  const client = connectClickHouse(url);
  const shards = isEmbedded === true ? oneServer(client) : oneServer(client, () => startOf(client));
  return { ...shards, [Symbol.asyncDispose]: () => client.close() };
}

export function connectAllResults({ url, cluster }: ClickHouseSource): ResultSource & AsyncDisposable {
  return cluster === undefined ? connectResults(url) : connectClusterResults(clusterServers(url, cluster));
}

/** The shards of one server: it has all rows, in one database. */
export function oneServer(clickhouse: ClickHouse, startedAt = async () => 0): Shards {
  const shard: Shard = {
    name: undefined,
    tables: clickhouse,
    servers: [clickhouse],
    withStored: async () => clickhouse,
    withAnswered: async () => clickhouse,
    sync: syncInTurns(clickhouse),
    startedAt,
  };
  return {
    all: clickhouse,
    shards: [shard],
    named(name) {
      if (name === undefined) return shard;
      throw new Error(
        `an unfinished batch belongs to shard ${name}, which is missing from CLICKHOUSE_SHARDS`,
      );
    },
    choose: async () => shard,
    own: (table) => table,
    whole: (table) => table,
    catchUp: async () => undefined,
    sync: () => shard.sync(),
    startedAt: async () => [await startedAt()],
    requireEvery: async () => undefined,
  };
}
