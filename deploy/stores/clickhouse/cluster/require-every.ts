import type { ClickHouse } from "../../../../schemas/shards.js";
import type { ClusterServers } from "../clickhouse-source.js";
import { requireShardsOf } from "./check-cluster.js";
import { ServerDown } from "./cluster-server.js";
import type { Connected } from "./fail-over.js";

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
