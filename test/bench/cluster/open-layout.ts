import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ClosingStack } from "../../../deploy/process/closing.js";
import { createLog } from "../../../deploy/process/log.js";
import { parseConfig } from "../../../deploy/config/config.js";
import { clusterServers } from "../../../deploy/stores/clickhouse/clickhouse-source.js";
import {
  DATABASE,
  connectClickHouse,
  databaseOf,
} from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { startShardServers } from "./shard-servers.js";

export const LAYOUTS = ["1x1", "2x1", "given"] as const;

/** Shards times replicas; `given`: the servers of CLICKHOUSE_SHARDS. */
export type Layout = (typeof LAYOUTS)[number];

/** Servers of ClickHouse for one turn. */
export interface BenchServers extends AsyncDisposable {
  /** Such as `2x2`. */
  name: string;
  /** The environment of the program. */
  variables: Record<string, string>;
  /** The URLs of every server, with credentials. */
  urls: readonly string[];
}

export interface LayoutOptions {
  folder: string;
  open: ClosingStack;
  env?: NodeJS.ProcessEnv;
}

/** Starts the servers of a layout. Undefined for given ones when there are none. */
export async function openLayout(
  layout: Layout,
  { folder, open, env = process.env }: LayoutOptions,
): Promise<BenchServers | undefined> {
  if (layout === "given") return givenServers(env);
  const servers = open.use(
    await startShardServers({
      dir: join(folder, `servers-${randomUUID()}`),
      count: layout === "2x1" ? 2 : 1,
      log: createLog({ level: "warn" }),
    }),
  );
  const credentials = new URL(servers.url);
  const urls = servers.servers.map(({ url }) => {
    const { username, password } = credentials;
    return Object.assign(new URL(url), { username, password }).href;
  });
  return {
    name: layout,
    variables: {
      CLICKHOUSE_URL: servers.url,
      ...(layout === "2x1" && { CLICKHOUSE_SHARDS: servers.shards }),
    },
    urls,
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

/** In a database of its own, which is dropped at the end. */
function givenServers(env: NodeJS.ProcessEnv): BenchServers | undefined {
  const { clickhouseUrl, clickhouseCluster: cluster } = parseConfig(env);
  if (clickhouseUrl === undefined || cluster === undefined) return undefined;
  const url = new URL(clickhouseUrl);
  url.pathname = "/";
  url.searchParams.set("database", `${DATABASE}_bench_${randomUUID().replaceAll("-", "")}`);
  const { shards, wholeDatabase } = clusterServers(url.href, cluster);
  const urls = shards.flatMap((shard) => shard.urls);
  const { CLICKHOUSE_SHARDS = "", CLICKHOUSE_QUORUM } = env;
  const replicas = Math.max(...cluster.shards.map(({ servers }) => servers.length));
  return {
    name: `${cluster.shards.length}x${replicas}`,
    variables: {
      CLICKHOUSE_URL: url.href,
      CLICKHOUSE_SHARDS,
      CLICKHOUSE_CLUSTER: cluster.name,
      ...(CLICKHOUSE_QUORUM !== undefined && { CLICKHOUSE_QUORUM }),
    },
    urls,
    async [Symbol.asyncDispose]() {
      for (const server of urls) await dropDatabases(server, [wholeDatabase, databaseOf(url.href)]);
    },
  };
}

async function dropDatabases(url: string, names: readonly string[]): Promise<void> {
  await using server = connectClickHouse(url, { database: "default" });
  for (const name of names)
    await server.command({
      query: "DROP DATABASE IF EXISTS {name:Identifier} SYNC",
      query_params: { name },
    });
}
