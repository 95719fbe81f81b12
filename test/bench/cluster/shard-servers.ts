import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { onFreePorts } from "../../../deploy/process/free-port.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import {
  type EmbeddedClickHouse,
  startClickHouse,
} from "../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { embeddedUrl } from "../../../deploy/stores/open-stores.js";

/** Servers of the embedded engine, each a shard without replicas, that know one another as a cluster. */
export interface ShardServers extends AsyncDisposable {
  /** The value of CLICKHOUSE_SHARDS: the shards `a`, `b` and so on. */
  readonly shards: string;
  /** The value of CLICKHOUSE_URL, with the user and the password of every server. */
  readonly url: string;
  /** In the order of the shards. */
  readonly servers: readonly EmbeddedClickHouse[];
}

export interface ShardServersOptions {
  /** One folder a server is made in it. */
  dir: string;
  count: number;
  log: Logger;
}

/**
 * Starts the servers, with the native protocol open on 127.0.0.1 for one another. The engine ends when a peer resets such
 * a connection: good enough for tests and benchmarks, and the reason why the program's own server never opens it.
 */
export function startShardServers({ dir, count, log }: ShardServersOptions): Promise<ShardServers> {
  const password = randomBytes(24).toString("base64url");
  return onFreePorts(count, async (ports) => {
    const starting = ports.map((port, index) =>
      startShardServer({
        dir: join(dir, nameOf(index)),
        log,
        port,
        cluster: clusterXml(ports, password),
        password,
      }),
    );
    // All are waited for, also when one fails: a server that is still starting could not be stopped.
    const results = await Promise.allSettled(starting);
    const servers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const stop = async () => void (await Promise.all(servers.map((server) => server[Symbol.asyncDispose]())));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      await stop();
      throw failed.reason;
    }
    return {
      shards: servers.map(({ url }, index) => `${nameOf(index)}: ${url}`).join("; "),
      url: embeddedUrl(servers[0] as EmbeddedClickHouse),
      servers,
      [Symbol.asyncDispose]: stop,
    };
  });
}

interface ShardServer {
  dir: string;
  log: Logger;
  port: number;
  cluster: string;
  password: string;
}

async function startShardServer({
  dir,
  log,
  port,
  cluster,
  password,
}: ShardServer): Promise<EmbeddedClickHouse> {
  // ClickHouse adds the files of this folder to its configuration.
  await mkdir(join(dir, "config.d"), { recursive: true, mode: 0o700 });
  const own = `<clickhouse><tcp_port>${port}</tcp_port>${cluster}</clickhouse>\n`;
  await writeFile(join(dir, "config.d", "cluster.xml"), own, { mode: 0o600 });
  await writeFile(join(dir, "password"), password, { mode: 0o600 });
  const server = await startClickHouse({ dir, log });
  try {
    await using client = connectClickHouse(embeddedUrl(server), { database: "default" });
    await client.command({ query: "SYSTEM START LISTEN TCP" });
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

function clusterXml(ports: readonly number[], password: string): string {
  const shards = ports.map(
    (port) =>
      `<shard><replica><host>127.0.0.1</host><port>${port}</port>` +
      `<user>maintainer</user><password>${password}</password></replica></shard>`,
  );
  return `<remote_servers><${CLUSTER}>${shards.join("")}</${CLUSTER}></remote_servers>`;
}

/** The default of CLICKHOUSE_CLUSTER. */
const CLUSTER = "maintainer";
const NAMES = "abcdefghijklmnopqrstuvwxyz";

function nameOf(index: number): string {
  return NAMES[index] ?? `s${index}`;
}
