import pg from "pg";
import type { Logger } from "pino";

export interface PostgresPool {
  url: string;
  connectionsMax: number;
  log: Logger;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** A pool whose idle connections may break without ending the process: the next query opens a new one. */
export function connectPostgres({ url, connectionsMax, log }: PostgresPool): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "maintainer-toolchain",
  });
  pool.on("error", (error) => log.warn({ err: error }, "an idle PostgreSQL connection broke"));
  return pool;
}
