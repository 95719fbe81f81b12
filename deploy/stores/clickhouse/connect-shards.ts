import type { ResultSource } from "../../../aggregate/queries/open-rows.js";
import type { Shards } from "../../../schemas/shards.js";
import { clusterServers, type ClickHouseSource } from "./clickhouse-source.js";
import { connectCluster, connectClusterResults } from "./cluster/connect-cluster.js";
import { connectClickHouse } from "./connect-clickhouse.js";
import { oneServer } from "./one-server.js";
import { connectResults } from "./connect-results.js";

/** Clients of the servers of ClickHouse: of one, or of a cluster. */
export function connectShards({ url, cluster }: ClickHouseSource): Shards & AsyncDisposable {
  if (cluster !== undefined) return connectCluster(clusterServers(url, cluster));
  const client = connectClickHouse(url);
  return { ...oneServer(client), [Symbol.asyncDispose]: () => client.close() };
}

/** Streams results as bytes, from one server or from a cluster. */
export function connectAllResults({ url, cluster }: ClickHouseSource): ResultSource & AsyncDisposable {
  return cluster === undefined ? connectResults(url) : connectClusterResults(clusterServers(url, cluster));
}
