import type { ClickHouseCluster, Config } from "../../config/config.js";
import { tlsFilesOf, withTlsFiles } from "../../process/tls-files.js";
import { databaseOf } from "./connect-clickhouse.js";

/** Selects the servers of ClickHouse, in a form that can be sent to a thread. */
export interface ClickHouseSource {
  /** The URL of the one server, with credentials. The host is not used if there are several. */
  url: string;
  /** Whether this program starts the server, and makes its tokens agree with its parts before: see reconcile-tokens.ts. */
  isEmbedded?: true;
  cluster?: ClickHouseCluster;
}

export function clickhouseSource({ clickhouseUrl = "", clickhouseCluster }: Config): ClickHouseSource {
  return { url: clickhouseUrl, ...(clickhouseCluster !== undefined && { cluster: clickhouseCluster }) };
}

/** The servers of a cluster as its program uses them: with the user, the password and the database of `url`. */
export interface ClusterServers {
  name: string;
  /** Has the tables of each server. */
  database: string;
  /** Has tables of the same names, with the rows of all shards. */
  wholeDatabase: string;
  shards: readonly { name: string; urls: readonly string[]; quorum: number }[];
}

export function clusterServers(url: string, { name, shards, quorum }: ClickHouseCluster): ClusterServers {
  const database = databaseOf(url);
  return {
    name,
    database,
    wholeDatabase: `${database}_all`,
    shards: shards.map(({ name: shard, servers }) => ({
      name: shard,
      urls: servers.map((server) => withCredentials(server, url)),
      quorum: quorum ?? Math.floor(servers.length / 2) + 1,
    })),
  };
}

function withCredentials(server: string, given: string): string {
  const whole = new URL(server);
  ({ username: whole.username, password: whole.password } = new URL(given));
  whole.searchParams.set("database", databaseOf(given));
  return withTlsFiles(whole.href, tlsFilesOf(given));
}

/** The URL under which one server answers for all, for tools beside the program. */
export function anyServerUrl({ url, cluster }: ClickHouseSource): string {
  if (cluster === undefined) return url;
  const { shards, wholeDatabase } = clusterServers(url, cluster);
  const any = new URL(shards[0]?.urls[0] ?? url);
  any.searchParams.set("database", wholeDatabase);
  return any.href;
}
