import type pg from "pg";
import type { Logger } from "pino";
import type { ResultSource } from "../../aggregate/queries/open-rows.js";
import { migratePostgres } from "../../api/base/postgres/migrate-postgres.js";
import type { EventLog, LagReader } from "../../schemas/records/event-log.js";
import type { ClickHouse, Shards } from "../../schemas/shards.js";
import type { Config } from "../config/config.js";
import type { Role } from "../config/variables.js";
import type { TlsStore } from "../process/tls-files.js";
import type { ClosingStack } from "../process/closing.js";
import type { DataDir } from "../process/data-dir.js";
import { StartFailure } from "../process/start-failure.js";
import { type ClickHouseSource, clickhouseSource } from "./clickhouse/clickhouse-source.js";
import { DATABASE } from "./clickhouse/connect-clickhouse.js";
import { connectAllResults, connectShards } from "./clickhouse/connect-shards.js";
import { keepPrepared } from "./clickhouse/prepare-clickhouse.js";
import { REQUEST_LIMITS, connectPostgres } from "./connect-postgres.js";
import { type EmbeddedClickHouse, startClickHouse } from "./embedded/clickhouse/clickhouse.js";
import { startPostgres } from "./embedded/postgres/postgres.js";
import { explainConnection } from "./explain-tls.js";
import { type EventLogSource, openEventLog } from "./open-event-log.js";

/** The connections to PostgreSQL of one process, as documented for operators. */
const CONNECTIONS_MAX = 8;
const REQUEST_CONNECTIONS_MAX = 16;

/** The three stores, migrated and ready. URLs carry credentials. */
export interface Stores {
  postgresUrl: string;
  clickhouseSource: ClickHouseSource;
  logSource: EventLogSource;
  pg: pg.Pool;
  /** For requests, with time limits. Separate, so that requests cannot use up the service's own connections. */
  requests: pg.Pool;
  shards: Shards;
  clickhouse: ClickHouse;
  /** For requests. Separate, so that requests cannot use up the service's own connections. */
  requestShards: Shards;
  /** For exports, which callers may read slowly. */
  exports: ResultSource;
  /** Open from the start when a role uses it. Otherwise the first call opens it. */
  eventLog: () => Promise<EventLog & LagReader>;
  /** Resolves with the reason when an embedded store could not be restarted. */
  lost: Promise<Error>;
}

interface StoresOptions {
  config: Config;
  dataDir: DataDir;
  log: Logger;
  open: ClosingStack;
}

/** Connects to the configured stores, and starts embedded ones below the data directory for the others. */
export async function openStores({ config, dataDir, log, open }: StoresOptions): Promise<Stores> {
  // Waits for both, also when one fails, because a store that is still starting could not be closed.
  const opening = openPostgres({ config, dataDir, log, open });
  const [startedPostgres, startedClickHouse] = await Promise.allSettled([
    opening,
    openClickHouse({ config, dataDir, log, open }, opening),
  ]);
  const postgres = opened(startedPostgres);
  const clickhouse = opened(startedClickHouse);
  const logSource = config.kafka === undefined ? { dir: dataDir.sub("log") } : { kafka: config.kafka };
  const eventLog = open.use(lazyHandle(() => openEventLog(logSource, log)));
  if (usesLog(config.roles)) await eventLog.get();
  const lost = Promise.race([postgres.lost, clickhouse.lost]);
  return {
    postgresUrl: postgres.url,
    clickhouseSource: clickhouse.source,
    logSource,
    pg: postgres.pool,
    requests: postgres.requests,
    shards: clickhouse.shards,
    clickhouse: clickhouse.shards.all,
    requestShards: clickhouse.requests,
    exports: clickhouse.exports,
    eventLog: eventLog.get,
    lost,
  };
}

function opened<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}

const NEVER = new Promise<Error>(() => undefined);

async function openPostgres({ config, dataDir, log, open }: StoresOptions) {
  const embedded =
    config.databaseUrl === undefined
      ? open.use(await startPostgres({ dir: dataDir.sub("postgres"), log }))
      : undefined;
  const url = embedded?.url ?? config.databaseUrl ?? "";
  const pool = connectPostgres({ url, connectionsMax: CONNECTIONS_MAX, log });
  const limits = REQUEST_LIMITS;
  const requests = connectPostgres({ url, connectionsMax: REQUEST_CONNECTIONS_MAX, log, limits });
  open.defer(() => Promise.all([pool.end(), requests.end()]));
  await explainFailure("DATABASE", "DATABASE_URL", () => migratePostgres(pool));
  return { url, pool, requests, lost: embedded?.exited ?? NEVER };
}

async function openClickHouse(
  { config, dataDir, log, open }: StoresOptions,
  postgres: ReturnType<typeof openPostgres>,
) {
  const embedded =
    config.clickhouseUrl === undefined
      ? open.use(await startClickHouse({ dir: dataDir.sub("clickhouse"), log }))
      : undefined;
  const source =
    embedded === undefined
      ? clickhouseSource(config)
      : { url: embeddedUrl(embedded), isEmbedded: true as const };
  const { pool: lock } = await postgres;
  const variable = source.cluster === undefined ? "CLICKHOUSE_URL" : "CLICKHOUSE_SHARDS";
  await explainFailure(
    "CLICKHOUSE",
    variable,
    async () => void open.use(await keepPrepared(source, { lock, log })),
  );
  const shards = open.use(connectShards(source));
  const requests = open.use(connectShards(source));
  const exports = open.use(connectAllResults(source));
  return { source, shards, requests, exports, lost: embedded?.exited ?? NEVER };
}

/** The URL of an embedded ClickHouse with its credentials and database in it. */
export function embeddedUrl({
  url,
  username,
  password,
}: Pick<EmbeddedClickHouse, "url" | "username" | "password">): string {
  const whole = new URL(url);
  whole.username = username;
  whole.password = password;
  whole.searchParams.set("database", DATABASE);
  return whole.href;
}

/** Jobs only report the lag of the log. */
export function usesLog(roles: ReadonlySet<Role>): boolean {
  return [...roles].some((role) => role !== "jobs");
}

/** Throws StartFailure that names the variable when the store cannot be reached or migrated. */
async function explainFailure(
  store: TlsStore,
  variable: string,
  prepare: () => Promise<void>,
): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    const reason = explainConnection(error, store);
    throw new StartFailure(`the database of ${variable} cannot be prepared: ${reason}`, { cause: error });
  }
}

/** A resource that the first call of `get` opens. Disposal closes it when it is open. */
export function lazyHandle<T extends AsyncDisposable>(open: () => Promise<T>) {
  let opening: Promise<T> | undefined;
  let opened: T | undefined;
  let closed = false;

  async function openOnce(): Promise<T> {
    try {
      const resource = await open();
      if (!closed) return (opened = resource);
      await resource[Symbol.asyncDispose]();
    } catch (error) {
      opening = undefined;
      throw error;
    }
    throw new Error("the resource was closed before it was open");
  }

  return {
    get: () => (opening ??= openOnce()),
    async [Symbol.asyncDispose]() {
      closed = true;
      // Does not wait for a resource that is still opening, which may take longer than a drain.
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
