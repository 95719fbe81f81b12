import { createClient, type ClickHouseClient } from "@clickhouse/client";

export const DATABASE = "maintainer";
const REQUEST_TIMEOUT_MS = 300_000;
const CONNECTIONS_MAX = 20;

/** A client of the server's `maintainer` database, or of the one that the URL's path names. */
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

export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || DATABASE;
}
