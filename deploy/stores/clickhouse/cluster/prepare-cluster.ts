import type { ClickHouseClient } from "@clickhouse/client";
import { hasFetched, makeReplica } from "../../../../aggregate/clickhouse/cluster/make-replica.js";
import {
  hasWholeTables,
  makeWholeTables,
} from "../../../../aggregate/clickhouse/cluster/make-whole-tables.js";
import {
  createDatabase,
  migrateClickHouse,
  readApplied,
} from "../../../../aggregate/clickhouse/migrate-clickhouse.js";
import { connectClickHouse } from "../connect-clickhouse.js";
import type { ClusterServers } from "../clickhouse-source.js";
import { type ServerView, checkMacros, checkUuids, requireShardsOf } from "./check-cluster.js";
import { ClusterServer, ServerDown } from "./cluster-server.js";

type CheckLock = (() => Promise<void>) | undefined;

/**
 * Creates the databases and migrates the tables of every server that can be reached. Answers the others, and those that
 * still fetch what their shard has: they lack what is new until this is called again. Throws if none can be reached, and if
 * the servers are not as the configuration says. Servers that know other shards have their tables before it throws.
 */
export async function prepareCluster(cluster: ClusterServers, checkLock?: CheckLock): Promise<string[]> {
  const servers = cluster.shards.flatMap(({ name, urls }) => urls.map((url) => connectServer(url, name)));
  try {
    const reached = await reachable(servers, cluster);
    const views = reached.map(({ facts }) => facts);
    checkMacros(views, cluster);
    checkUuids(views);
    const ready = new Set<string>();
    for (const { name } of cluster.shards)
      for (const server of await prepareShard(
        reached.filter(({ facts }) => facts.shard === name),
        { cluster, checkLock },
      ))
        ready.add(server);
    // Last: a new shard needs its tables before the servers know it, because they ask it from then on.
    for (const view of views) requireShardsOf(view, cluster);
    return servers.map(({ up }) => up.name).filter((name) => !ready.has(name));
  } finally {
    await Promise.all(servers.flatMap(({ server, tables }) => [server.close(), tables.close()]));
  }
}

interface PreparedServer {
  up: ClusterServer;
  shard: string;
  server: ClickHouseClient;
  tables: ClickHouseClient;
}

type Reached = PreparedServer & { facts: ServerView };

function connectServer(url: string, shard: string): PreparedServer {
  return {
    up: new ClusterServer(url),
    shard,
    server: connectClickHouse(url, { database: "default" }),
    tables: connectClickHouse(url),
  };
}

async function reachable(servers: readonly PreparedServer[], cluster: ClusterServers): Promise<Reached[]> {
  const asked = await Promise.allSettled(
    servers.map(async (one) => ({ ...one, facts: await factsOf(one, cluster.name) })),
  );
  const refused = asked.find(({ status, reason }: { status: string; reason?: unknown }) => {
    return status === "rejected" && !(reason instanceof ServerDown);
  });
  if (refused?.status === "rejected") throw refused.reason;
  const reached = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  if (reached.length === 0) throw (asked[0] as PromiseRejectedResult).reason;
  return reached;
}

async function factsOf({ up, shard, server }: PreparedServer, cluster: string): Promise<ServerView> {
  const query_params = { cluster };
  const answer = await up.run((signal) =>
    server.query({ query: FACTS, query_params, format: "JSONEachRow", abort_signal: signal }),
  );
  const [row] = await answer.json<{
    shard_macro: string;
    replicates: 0 | 1;
    shards: number | string;
    uuid: string;
  }>();
  return {
    server: up.name,
    shard,
    shardMacro: row?.shard_macro ?? "",
    replicates: row?.replicates === 1,
    shards: Number(row?.shards),
    uuid: row?.uuid ?? "",
  };
}

/** A server of a cluster with Keeper names itself by its macros. */
const FACTS = `
  SELECT
    (SELECT any(substitution) FROM system.macros WHERE macro = 'shard') AS shard_macro,
    toUInt8((SELECT count() FROM system.macros WHERE macro = 'replica') > 0) AS replicates,
    (SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = {cluster:String}) AS shards,
    serverUUID() AS uuid`;

/** A table without replication keeps its rows to itself, and every other server of the shard would answer without them. */
async function requireReplicated(
  { server, facts }: Reached,
  { database }: Pick<ClusterServers, "database">,
): Promise<void> {
  const answer = await server.query({
    query: PLAIN_TABLES,
    query_params: { database },
    format: "JSONEachRow",
  });
  const [plain] = await answer.json<{ name: string }>();
  if (plain === undefined) return;
  throw new Error(
    `the table ${plain.name} of ${facts.server} is not replicated: ` +
      'see "From one server to a first shard" in deploy/docs/operate/cluster.md',
  );
}

const PLAIN_TABLES = `
  SELECT name FROM system.tables
  WHERE database = {database:String} AND name != 'migrations' AND engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%'
  ORDER BY name LIMIT 1`;

async function prepareShard(
  servers: readonly Reached[],
  { cluster, checkLock }: { cluster: ClusterServers; checkLock: CheckLock },
): Promise<string[]> {
  const replicates = servers.some(({ facts }) => facts.replicates);
  const begun: Reached[] = [];
  for (const one of servers) {
    await createDatabase(one.server, cluster.database);
    if ((await readApplied(one.tables)).length > 0) begun.push(one);
  }
  if (replicates) for (const one of begun) await requireReplicated(one, cluster);
  const migrated = replicates && begun.length > 0 ? begun : servers;
  const tables = migrated.map((one) => one.tables);
  await migrateClickHouse(tables, { replicated: replicates, checkLock });
  const [peer] = migrated;
  // Last: a new server gets the columns that the others have by now.
  for (const one of servers)
    if (peer !== undefined && !migrated.includes(one))
      await makeReplica(one.tables, { server: peer.server, database: cluster.database }, { checkLock });
  const ready: string[] = [];
  for (const { facts, server, tables } of servers) {
    const given = { ...cluster, cluster: cluster.name };
    // Without these tables it is not read: a new replica that has not fetched all would answer smaller numbers.
    if (replicates && !(await hasWholeTables(server, given)) && !(await hasFetched(tables))) continue;
    await makeWholeTables(server, given);
    ready.push(facts.server);
  }
  return ready;
}
