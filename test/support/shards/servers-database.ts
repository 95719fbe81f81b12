import { randomUUID } from "node:crypto";
import {
  clusterServers,
  type ClickHouseSource,
} from "../../../deploy/stores/clickhouse/clickhouse-source.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { GivenServers } from "./given-servers.js";

/** A database of its own on given servers, beside those of other tests. The program makes it, and disposal drops it. */
export interface ServersDatabase extends AsyncDisposable {
  /** Of a program that uses it. */
  readonly env: { CLICKHOUSE_URL: string; CLICKHOUSE_SHARDS: string };
  /** The same for functions of the program. */
  readonly source: ClickHouseSource;
  /** The URLs of the servers of each shard, with credentials, and the database of their own rows. */
  readonly shards: readonly (readonly string[])[];
  /** The same servers, with the database that reads the rows of all shards. */
  readonly whole: readonly string[];
}

/** The default of CLICKHOUSE_CLUSTER. */
const CLUSTER = "maintainer";

export function openServersDatabase({
  text,
  shards,
  url,
  name = CLUSTER,
}: Pick<GivenServers, "text" | "shards" | "url"> & { name?: string }): ServersDatabase {
  const given = new URL(url);
  given.searchParams.set("database", `test_${randomUUID().replaceAll("-", "")}`);
  const cluster = { name, shards };
  const { database, wholeDatabase, shards: known } = clusterServers(given.href, cluster);
  const servers = known.flatMap(({ urls }) => urls);
  return {
    env: { CLICKHOUSE_URL: given.href, CLICKHOUSE_SHARDS: text },
    source: { url: given.href, cluster },
    shards: known.map(({ urls }) => urls),
    whole: servers.map((server) => withDatabase(server, wholeDatabase)),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await dropDatabases(server, [wholeDatabase, database]);
    },
  };
}

export function withDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.searchParams.set("database", database);
  return other.href;
}

async function dropDatabases(url: string, names: readonly string[]): Promise<void> {
  await using client = connectClickHouse(url, { database: "default" });
  for (const database of names)
    await client.command({
      query: "DROP DATABASE IF EXISTS {database:Identifier} SYNC",
      query_params: { database },
    });
}
