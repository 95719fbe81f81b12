import pg from "pg";
import type { Logger } from "pino";
import { PreparingClient } from "./preparing-client.js";

export interface PostgresPool {
  url: string;
  connectionsMax: number;
  log: Logger;
  /** None for work that may take as long as it does: migrations, settlement, scheduled jobs. */
  limits?: WaitLimits;
}

/** How long whoever asks waits at most. */
export interface WaitLimits {
  /** For a connection that is free, or a new one. */
  connectionMs: number;
  /** For each lock that another transaction holds. */
  lockMs: number;
  /** For a statement as a whole, by the clock of the server. */
  statementMs: number;
}

/**
 * For requests: a caller who waits is better told to come again, and holds a connection that others wait for. A lock
 * is held for milliseconds as long as all is well.
 */
export const REQUEST_LIMITS: WaitLimits = { connectionMs: 2_000, lockMs: 3_000, statementMs: 30_000 };

const CONNECTION_MS = 5_000;
/** Longer than callers usually pause: opening one costs its first caller some 10 ms, and many at once far more. */
const IDLE_MS = 5 * 60_000;
/** How much later than the server this side gives up: then the server does not answer at all. */
const SILENCE_MS = 5_000;

/** A pool whose idle connections may break without ending the process: the next query opens a new one. */
export function connectPostgres({ url, connectionsMax, log, limits }: PostgresPool): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: limits?.connectionMs ?? CONNECTION_MS,
    idleTimeoutMillis: IDLE_MS,
    application_name: "maintainer-toolchain",
    ...(limits && {
      Client: PreparingClient,
      lock_timeout: limits.lockMs,
      statement_timeout: limits.statementMs,
      query_timeout: limits.statementMs + SILENCE_MS,
    }),
  });
  pool.on("error", (error: Error & { client?: unknown }) => {
    // A pool has ended before its connections have closed: their server may be ended meanwhile.
    if (pool.ending) return;
    // pg adds its whole client, with the key that cancels its queries.
    delete error.client;
    log.warn({ err: error }, "an idle PostgreSQL connection broke");
  });
  return pool;
}
