import type { ClickHouseClient } from "@clickhouse/client";
import type pg from "pg";
import type { Logger } from "pino";
import type { ResultSource } from "../../aggregate/queries/open-rows.js";
import { migratePostgres } from "../../api/stores/migrate-postgres.js";
import type { EventLog, LagReader } from "../../schemas/records/event-log.js";
import type { ClosingStack } from "../process/closing-stack.js";
import type { Config } from "../config/config.js";
import type { Role } from "../config/config-schema.js";
import { connectClickHouse, DATABASE } from "./clickhouse/connect-clickhouse.js";
import { connectPostgres, REQUEST_LIMITS } from "./postgres/connect-postgres.js";
import { connectResults } from "./clickhouse/results/connect-results.js";
import type { DataDir } from "../data-dir/data-dir.js";
import { startClickHouse, type EmbeddedClickHouse } from "./embedded/clickhouse/clickhouse.js";
import { startPostgres } from "./embedded/postgres/postgres.js";
import { lazyHandle } from "./lazy-handle.js";
import { openEventLog, type EventLogSource } from "./open-event-log.js";
import { prepareClickHouse } from "./clickhouse/prepare-clickhouse.js";
import { StartFailure } from "../process/start-failure.js";

/** Together what the documents on running it say of each process. */
const CONNECTIONS_MAX = 8;
const REQUEST_CONNECTIONS_MAX = 16;

/** The three stores, migrated and ready. URLs carry credentials. */
export interface Stores {
  postgresUrl: string;
  clickhouseUrl: string;
  logSource: EventLogSource;
  /** For the service's own work. */
  pg: pg.Pool;
  /** For what callers ask for, who are sent away when it takes too long: they never take the service's own connections. */
  requests: pg.Pool;
  clickhouse: ClickHouseClient;
  /** For what callers ask for: they never take the service's own connections. */
  clickhouseRequests: ClickHouseClient;
  /** For answers that callers read at their own pace. */
  exports: ResultSource;
  /** Open from the start, except where no role needs it: then it is opened by whoever asks. */
  eventLog: () => Promise<EventLog & LagReader>;
  /** Resolves with the reason when an embedded store is gone for good. */
  lost: Promise<Error>;
}

export interface StoresOptions {
  config: Config;
  dataDir: DataDir;
  log: Logger;
  /** Everything opened is closed by it. */
  open: ClosingStack;
}

/** Opens each store where the configuration says, else the embedded one below the data directory. */
export async function openStores({ config, dataDir, log, open }: StoresOptions): Promise<Stores> {
  // Both are waited for, also when one fails: what is still starting could not be closed.
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
    clickhouseUrl: clickhouse.url,
    logSource,
    pg: postgres.pool,
    requests: postgres.requests,
    clickhouse: clickhouse.client,
    clickhouseRequests: clickhouse.requests,
    exports: clickhouse.exports,
    eventLog: eventLog.get,
    lost,
  };
}

/** Jobs only tell how far it is behind. */
export function usesLog(roles: ReadonlySet<Role>): boolean {
  return [...roles].some((role) => role !== "jobs");
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
  await explaining("DATABASE_URL", () => migratePostgres(pool));
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
  const url = embedded === undefined ? (config.clickhouseUrl ?? "") : embeddedUrl(embedded);
  const { pool: lock } = await postgres;
  await explaining("CLICKHOUSE_URL", () => prepareClickHouse(url, { lock }));
  const client = connectClickHouse(url);
  const requests = connectClickHouse(url);
  const exports = open.use(connectResults(url));
  open.defer(() => Promise.all([client.close(), requests.close()]));
  return { url, client, requests, exports, lost: embedded?.exited ?? NEVER };
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

/** A store that cannot be reached or prepared ends the start with a sentence that names its variable. */
async function explaining(variable: string, prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    const reason = error instanceof Error ? error.message || String(error) : String(error);
    throw new StartFailure(`the database of ${variable} cannot be prepared: ${reason}`, { cause: error });
  }
}
