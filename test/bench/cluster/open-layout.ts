import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ClosingStack } from "../../../deploy/process/closing.js";
import { createLog } from "../../../deploy/process/log.js";
import { parseConfig } from "../../../deploy/config/config.js";
import { openServersDatabase } from "../../support/shards/servers-database.js";
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
}

/** Starts the servers of a layout. Undefined for given ones when there are none. */
export async function openLayout(
  layout: Layout,
  { folder, open }: LayoutOptions,
): Promise<BenchServers | undefined> {
  if (layout === "given") return givenServers();
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
function givenServers(): BenchServers | undefined {
  const { clickhouseUrl: url, clickhouseCluster: cluster } = parseConfig(process.env);
  if (url === undefined || cluster === undefined) return undefined;
  const { CLICKHOUSE_SHARDS: text = "", CLICKHOUSE_QUORUM } = process.env;
  const database = openServersDatabase({
    ...cluster,
    text,
    url: Object.assign(new URL(url), { pathname: "/" }).href,
  });
  const replicas = Math.max(...cluster.shards.map(({ servers }) => servers.length));
  return {
    name: `${cluster.shards.length}x${replicas}`,
    variables: {
      ...database.env,
      CLICKHOUSE_CLUSTER: cluster.name,
      ...(CLICKHOUSE_QUORUM !== undefined && { CLICKHOUSE_QUORUM }),
    },
    urls: database.shards.flat(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
