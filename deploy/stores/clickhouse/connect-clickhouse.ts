import { createClient, type ClickHouseClient } from "@clickhouse/client";

export const DATABASE = "maintainer";
const REQUEST_TIMEOUT_MS = 300_000;
const CONNECTIONS_MAX = 20;

/** A client of the server's `maintainer` database, or of the one that the URL names. */
export function connectClickHouse(url: string, { database = databaseOf(url) } = {}): ClickHouseClient {
  const { origin, username, password } = new URL(url);
  return createClient({
    url: origin,
    username: decodeURIComponent(username) || "default",
    password: decodeURIComponent(password),
    database,
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
    // The client's own log goes to standard output; what fails is told by whoever asked.
    log: { level: 127 },
  });
}

/** `?database=name`, as ClickHouse's own HTTP interface takes it, or the URL's path. */
export function databaseOf(url: string): string {
  const { searchParams, pathname } = new URL(url);
  return searchParams.get("database") ?? (decodeURIComponent(pathname.slice(1)) || DATABASE);
}
