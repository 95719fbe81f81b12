import pg from "pg";
import type { Logger } from "pino";
import { onFreePort } from "../../../process/free-port.js";
import { StartFailure } from "../../../process/start-failure.js";
import {
  type Running,
  type SuperviseServerOptions,
  superviseServer,
  untilAnswering,
} from "../supervise-server.js";
import { endOrphans, isServerOf } from "../find-servers.js";
import { type PostgresCluster, SUPERUSER, openPostgresCluster } from "./postgres-cluster.js";

export interface PostgresOptions extends Pick<SuperviseServerOptions, "steadyMs"> {
  /** A folder of its own, below the locked data directory. */
  dir: string;
  log: Logger;
}

/** A PostgreSQL server on 127.0.0.1 that ends with this process. When it dies, it is restarted on the same port. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** Has the credentials of the owner of the database `maintainer`, who is no superuser. */
  readonly url: string;
  /** The pid of the current process; another one after a restart. */
  readonly pid: number;
  /** Resolves with the reason when the server died and could not be restarted. Never resolves after disposal. */
  readonly exited: Promise<Error>;
}

interface Server {
  cluster: PostgresCluster;
  log: Logger;
  port: number;
}

const DATABASE = "maintainer";
const CANNOT_CONNECT_NOW = "57P03";
// Fast shutdown, then immediate shutdown (with recovery at the next start), then kill.
const STOP = [
  { signal: "SIGINT", patienceMs: 10_000 },
  { signal: "SIGQUIT", patienceMs: 5_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
] as const;

/** Starts PostgreSQL on the folder and resolves when it answers. Throws StartFailure when it does not start. */
export async function startPostgres({
  dir,
  log,
  ...supervision
}: PostgresOptions): Promise<EmbeddedPostgres> {
  await endOrphanServers(dir);
  const server: Server = { cluster: await openPostgresCluster(dir), log, port: 0 };
  const supervised = await superviseServer({
    ...supervision,
    name: "PostgreSQL",
    log,
    start: () =>
      server.port === 0
        ? onFreePort((port) => startOnPort(Object.assign(server, { port })))
        : startOnPort(server),
  });
  try {
    await createDatabase(server);
  } catch (error) {
    await supervised.stop();
    throw error;
  }
  const { password } = server.cluster;
  return {
    url: `postgres://${DATABASE}:${password}@127.0.0.1:${server.port}/${DATABASE}`,
    get pid() {
      return supervised.pid;
    },
    exited: supervised.exited,
    [Symbol.asyncDispose]: () => supervised.stop(),
  };
}

async function startOnPort(server: Server): Promise<Running> {
  const { cluster, log, port } = server;
  await endOrphanServers(cluster.dir);
  cluster.removeStaleLock();
  const child = await cluster.spawn(port, (line) => logLine(log, line));
  try {
    await untilAnswering(child, { name: "PostgreSQL", dir: cluster.dir, answers: () => answers(server) });
  } catch (error) {
    await child.end(STOP);
    throw error;
  }
  return { pid: child.pid, gone: child.gone, stop: () => child.end(STOP) };
}

function endOrphanServers(dir: string): Promise<void> {
  return endOrphans(dir, {
    name: "PostgreSQL",
    isServer: isServerOf.PostgreSQL,
    signals: STOP,
  });
}

/** Callers log failed statements, so the server's messages about them are only logged at debug level. */
function logLine(log: Logger, line: string): void {
  if (line.startsWith("PANIC:")) log.error({ store: "PostgreSQL" }, line);
  else if (/^(FATAL|ERROR|WARNING):/.test(line)) log.debug({ store: "PostgreSQL" }, line);
  else log.trace({ store: "PostgreSQL" }, line);
}

async function answers(server: Server): Promise<boolean> {
  try {
    await asSuperuser(server, (client) => client.query("SELECT 1"));
    return true;
  } catch (error) {
    // Without an answer of the server it is not ready yet, or the machine is too busy for both.
    if (!(error instanceof pg.DatabaseError) || error.code === CANNOT_CONNECT_NOW) return false;
    throw new StartFailure(`PostgreSQL on ${server.cluster.dir} rejected the connection: ${String(error)}`, {
      cause: error,
    });
  }
}

/** The database belongs to a role without access to the server's files, which a superuser would have. */
async function createDatabase(server: Server): Promise<void> {
  await asSuperuser(server, async (client) => {
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role,
              EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
      [DATABASE],
    );
    if (rows[0]?.role !== true) await client.query(`CREATE ROLE ${DATABASE} LOGIN`);
    await client.query(`ALTER ROLE ${DATABASE} PASSWORD ${client.escapeLiteral(server.cluster.password)}`);
    if (rows[0]?.database !== true) await client.query(`CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`);
  });
}

async function asSuperuser<T>(server: Server, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: server.port,
    user: SUPERUSER,
    password: server.cluster.superuserPassword,
    database: "postgres",
    connectionTimeoutMillis: 10_000,
  });
  client.on("error", () => undefined); // the running query rejects with it
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
