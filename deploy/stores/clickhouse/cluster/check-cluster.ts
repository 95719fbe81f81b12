import type { ClickHouse } from "../../../../schemas/shards.js";
import type { ClusterServers } from "../clickhouse-source.js";
import { type Connected, ServerDown } from "./cluster-server.js";

export interface ServerView {
  server: string;
  shard: string;
  /** The server's macro `shard`; empty without one. */
  shardMacro: string;
  /** Whether it has the macro `replica`, by which it names itself in Keeper. */
  replicates: boolean;
  /** Shards of the cluster in its `remote_servers`. */
  shards: number;
  /** Of the file `uuid` in its data folder. */
  uuid: string;
}

/**
 * Throws a sentence for the operator: a shard that a server does not know would be missing from every number.
 */
export function requireShardsOf(
  { server, shards: known }: Pick<ServerView, "server" | "shards">,
  { name, shards }: Pick<ClusterServers, "name" | "shards">,
): void {
  if (known === shards.length) return;
  throw new Error(
    `CLICKHOUSE_SHARDS names ${shards.length} shards, but the cluster ${name} has ${known} in ` +
      `remote_servers of ${server}`,
  );
}

/** The same if servers only seem to be replicas: they would be missing from half of the numbers. */
export function checkMacros(facts: readonly ServerView[], { shards }: Pick<ClusterServers, "shards">): void {
  for (const one of facts) {
    const replicas = shards.find((shard) => shard.name === one.shard)?.urls.length ?? 0;
    if (replicas > 1 && !one.replicates)
      throw new Error(
        `shard ${one.shard} has ${replicas} servers, but ${one.server} does not define the macro ` +
          "replica; replication requires Keeper and macros",
      );
  }
  const macros = new Map<string, ServerView>();
  for (const one of facts.filter(({ replicates }) => replicates)) {
    const other = [...macros.values()].find(
      ({ shard, shardMacro }) => (shard === one.shard) !== (shardMacro === one.shardMacro),
    );
    if (other !== undefined)
      throw new Error(
        `${other.server} of shard ${other.shard} has the macro shard ` +
          `${JSON.stringify(other.shardMacro)}, and ${one.server} of shard ${one.shard} has ` +
          `${JSON.stringify(one.shardMacro)}; servers of the same shard must have the same macro, and each ` +
          "shard needs a different one",
      );
    macros.set(one.server, one);
  }
}

/** The same if servers of one UUID share a session in Keeper: each would end the other's, and quorum inserts fail again and again. */
export function checkUuids(facts: readonly Pick<ServerView, "server" | "replicates" | "uuid">[]): void {
  const seen = new Map<string, string>();
  for (const { server, uuid } of facts.filter(({ replicates }) => replicates)) {
    const other = seen.get(uuid);
    if (other !== undefined && uuid !== NO_UUID)
      throw new Error(
        `${other} and ${server} have the same UUID because the data folder of one is a copy. Delete the file ` +
          "uuid in the copy and restart that server",
      );
    seen.set(uuid, server);
  }
}

/** An engine that is no server has none. */
const NO_UUID = "00000000-0000-0000-0000-000000000000";

/** Rejects if a server that is up knows another number of shards than this process: one was added since it started. */
export async function requireEvery(
  servers: readonly Connected<ClickHouse>[],
  cluster: Pick<ClusterServers, "name" | "shards">,
): Promise<void> {
  await Promise.all(
    servers.map(async ({ server, client }) => {
      if (!(await server.isUp())) return;
      const shards = await server
        .run((signal) => shardsOf(client, { cluster: cluster.name, signal }))
        .catch(orUndefinedIfDown);
      if (shards !== undefined) requireShardsOf({ server: server.name, shards }, cluster);
    }),
  );
}

async function shardsOf(
  client: ClickHouse,
  { cluster, signal }: { cluster: string; signal: AbortSignal },
): Promise<number> {
  const answer = await client.query({
    query: "SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}",
    query_params: { cluster },
    format: "JSONEachRow",
    abort_signal: signal,
  });
  const [row] = await answer.json<{ shards: number | string }>();
  return Number(row?.shards);
}

/** A server that is down is not read either. */
function orUndefinedIfDown(error: unknown): undefined {
  if (!(error instanceof ServerDown)) throw error;
}
