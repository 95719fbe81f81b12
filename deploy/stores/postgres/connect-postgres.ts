import pg from "pg";
import type { Logger } from "pino";
import { PreparingClient } from "./preparing-client.js";

export interface PostgresPool {
  url: string;
  connectionsMax: number;
  log: Logger;
  /** Absent for work without time limits: migrations, settlement, scheduled jobs. */
  limits?: WaitLimits;
}

/** The longest waits of a caller. */
export interface WaitLimits {
  /** For a free or new connection. */
  connectionMs: number;
  /** For each lock that another transaction holds. */
  lockMs: number;
  /** For a whole statement, measured by the server. */
  statementMs: number;
}

/**
 * For requests. A request that waits occupies a connection that others need, so it fails early and can be retried.
 * Locks are normally held for milliseconds.
 */
export const REQUEST_LIMITS: WaitLimits = { connectionMs: 2_000, lockMs: 3_000, statementMs: 30_000 };

const CONNECTION_MS = 5_000;
/** Longer than the usual pauses between requests. Opening a connection takes about 10 ms, many at once far longer. */
const IDLE_MS = 5 * 60_000;
/** Added to the server's statement limit, for a server that does not answer at all. */
const SILENCE_MS = 5_000;

/** Opens a pool. A broken idle connection is logged, and the next query opens a new one. */
export function connectPostgres({ url, connectionsMax, log, limits }: PostgresPool): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: limits?.connectionMs ?? CONNECTION_MS,
    idleTimeoutMillis: IDLE_MS,
    // The session that holds the lock of migrations is silent for as long as one statement of ClickHouse takes.
    keepAlive: true,
    application_name: "maintainer-toolchain",
    ...(limits && {
      Client: PreparingClient,
      lock_timeout: limits.lockMs,
      statement_timeout: limits.statementMs,
      query_timeout: limits.statementMs + SILENCE_MS,
    }),
  });
  pool.on("error", (error: Error & { client?: unknown }) => {
    // A pool ends before its connections close. The server may stop in between.
    if (pool.ending) return;
    // pg attaches the whole client, which contains the key that cancels its queries.
    delete error.client;
    log.warn({ err: error }, "an idle PostgreSQL connection broke");
  });
  return pool;
}
