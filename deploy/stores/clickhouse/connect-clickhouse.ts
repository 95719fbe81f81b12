import { Agent } from "node:https";
import { createClient, type ClickHouseClient, type ClickHouseSettings } from "@clickhouse/client";

import { type TlsOptions, readTlsOf } from "../../process/tls-files.js";

export const DATABASE = "maintainer";
const REQUEST_TIMEOUT_MS = 300_000;
const CONNECTIONS_MAX = 20;

export interface Connection {
  database?: string;
  settings?: ClickHouseSettings;
}

/** A client of the server's `maintainer` database, or of the one that the URL names, with the URL's certificates. */
export function connectClickHouse(
  url: string,
  { database = databaseOf(url), settings = {} }: Connection = {},
): ClickHouseClient {
  const { origin, username, password } = new URL(url);
  const tls = readTlsOf(url);
  return createClient({
    url: origin,
    username: decodeURIComponent(username) || "default",
    password: decodeURIComponent(password),
    database,
    clickhouse_settings: settings,
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
    ...(Object.keys(tls).length > 0 && { http_agent: agentWith(tls) }),
    // Turns the client's own log off, which goes to standard output. Callers log failures.
    log: { level: 127 },
  });
}

/** The client's own option for certificates also makes the server take them in place of the password. */
function agentWith(tls: TlsOptions): Agent {
  return new Agent({ ...tls, keepAlive: true, maxSockets: CONNECTIONS_MAX });
}

/** The database that the URL names: `?database=name`, as in ClickHouse's HTTP interface, or the path. */
export function databaseOf(url: string): string {
  const { searchParams, pathname } = new URL(url);
  return searchParams.get("database") ?? (decodeURIComponent(pathname.slice(1)) || DATABASE);
}
