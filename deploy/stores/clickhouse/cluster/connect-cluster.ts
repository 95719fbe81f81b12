import { shareFor } from "../../../../schemas/async/share-work.js";
import type { Shards } from "../../../../schemas/shards.js";
import type { ResultSource } from "../../../../aggregate/queries/open-rows.js";
import { quotedName, sqlName } from "../../../../aggregate/queries/sql-literals.js";
import type { ClusterServers } from "../clickhouse-source.js";
import { connectResults } from "../connect-results.js";
import { type ConnectedShard, clusterSettings, connectShard, weighShards } from "./connect-shard.js";
import { ClusterServer, type Connected, failOver, onFirstUp } from "./cluster-server.js";
import { isPrepared } from "./is-prepared.js";
import { requireEvery } from "./check-cluster.js";

/** How long a shard's state counts: asking every server before every range would take longer than a small range. */
const STATE_MS = 5_000;

/** Connects to every server of a cluster. Servers that are down when it is called are passed over. */
export function connectCluster(cluster: ClusterServers): Shards & AsyncDisposable {
  const shards = cluster.shards.map((shard) => connectShard(shard, cluster));
  const [lone, ...others] = shards;
  const choose = stateful(shards);
  return {
    all: failOver(turns(shards.flatMap(({ whole }) => whole)), `cluster ${cluster.name}`),
    shards,
    named: (name) => shardNamed(shards, name),
    choose: async () => (lone !== undefined && others.length === 0 ? lone : choose()),
    own: (table) => `${quotedName(cluster.database)}.${sqlName(table)}`,
    whole: (table) => `${quotedName(cluster.wholeDatabase)}.${sqlName(table)}`,
    catchUp: async (tables) => void (await Promise.all(shards.map((shard) => shard.catchUp(tables)))),
    sync: async () => void (await Promise.all(shards.map((shard) => shard.sync()))),
    startedAt: () => Promise.all(shards.map((shard) => shard.startedAt())),
    requireEvery: () =>
      requireEvery(
        shards.flatMap(({ whole }) => whole),
        cluster,
      ),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(shards.map((shard) => shard[Symbol.asyncDispose]()))),
  };
}

/** Streams results from the first server that is up. One that fails midway breaks the result off. */
export function connectClusterResults(cluster: ClusterServers): ResultSource & AsyncDisposable {
  const sources = cluster.shards.flatMap((shard) =>
    shard.urls.map((url) => ({
      server: new ClusterServer(url, () => isPrepared(url, cluster)),
      client: connectResults(url, {
        database: cluster.wholeDatabase,
        settings: clusterSettings(shard, cluster),
      }),
    })),
  );
  const order = turns(sources);
  return {
    exec: (asked) =>
      onFirstUp(order(), { what: `cluster ${cluster.name}` }, ({ server, client }) =>
        server.run((signal) => client.exec({ ...asked, abort_signal: signal }), asked.abort_signal),
      ),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(sources.map(({ client }) => client[Symbol.asyncDispose]()))),
  };
}

/** Each call begins with the next server: the one that is asked does most of the work. */
function turns<Client>(servers: readonly Connected<Client>[]): () => Connected<Client>[] {
  let next = Math.floor(Math.random() * servers.length);
  return () => {
    const from = next++ % servers.length;
    return [...servers.slice(from), ...servers.slice(0, from)];
  };
}

/** A range that was recorded without a shard, before there were several, belongs to the first: it was that server. */
function shardNamed(shards: readonly ConnectedShard[], name: string | undefined): ConnectedShard {
  const found = name === undefined ? shards[0] : shards.find((shard) => shard.name === name);
  if (found !== undefined) return found;
  throw new Error(`an unfinished batch belongs to shard ${name}, which is missing from CLICKHOUSE_SHARDS`);
}

function stateful(shards: readonly ConnectedShard[]): () => Promise<ConnectedShard> {
  const states = shareFor(STATE_MS, () => statesOf(shards));
  return async () => {
    const chosen = weighShards(await states(), Math.random());
    if (chosen === undefined) throw new Error("no shard is configured");
    return chosen.shard;
  };
}

function statesOf(shards: readonly ConnectedShard[]) {
  return Promise.all(shards.map(async (shard) => ({ shard, ...(await shard.state()) })));
}
