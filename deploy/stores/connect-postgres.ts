import { createHash } from "node:crypto";
import pg from "pg";
import type { Logger } from "pino";
import { pause } from "../../schemas/async/pause.js";

interface PostgresPool {
  url: string;
  connectionsMax: number;
  log: Logger;
  /** Absent for work without time limits: migrations, settlement, scheduled jobs. */
  limits?: WaitLimits;
}

interface WaitLimits {
  /** For a free or new connection. */
  connectionMs: number;
  /** For each lock that another transaction holds. */
  lockMs: number;
  /** For a whole statement, measured by the server. */
  statementMs: number;
}

/** A request that waits occupies a connection that others need, so it fails early and can be retried. */
export const REQUEST_LIMITS: WaitLimits = { connectionMs: 2_000, lockMs: 3_000, statementMs: 30_000 };

const CONNECTION_MS = 5_000;
/** For work without time limits: on a busy machine a start loads tables for longer than 5 s, and hears nothing meanwhile. */
const PATIENT_CONNECTION_MS = 30_000;
/** Longer than the usual pauses between requests. Opening a connection takes about 10 ms, many at once far longer. */
const IDLE_MS = 5 * 60_000;
/** Added to the server's statement limit, for a server that does not answer at all. */
const SILENCE_MS = 5_000;

/** Opens a pool. A broken idle connection is logged, and the next query opens a new one. */
export function connectPostgres({ url, connectionsMax, log, limits }: PostgresPool): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: limits?.connectionMs ?? PATIENT_CONNECTION_MS,
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

/**
 * Parsing and planning a short statement costs more than executing it. Only for tables whose sizes change
 * slowly: a plan for an empty table stays until the table is analysed.
 */
class PreparingClient extends pg.Client {
  override query = ((query: unknown, values?: unknown, ...rest: unknown[]) => {
    const run = super.query.bind(this) as (...args: unknown[]) => unknown;
    const name =
      typeof query === "string" && Array.isArray(values) && values.length > 0 ? nameOf(query) : undefined;
    return name === undefined ? run(query, values, ...rest) : run({ name, text: query }, values, ...rest);
  }) as pg.Client["query"];
}

/** Each prepared statement takes memory of every connection. The program has fewer; further ones are not prepared. */
const STATEMENTS_MAX = 500;
const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= STATEMENTS_MAX) return known;
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  names.set(text, name);
  return name;
}

interface ListenOptions {
  url: string;
  channel: string;
  log: Logger;
  /** Called whenever a new connection listens. Notifications sent before then are lost. */
  onListening: () => void;
  onChange: (payload: string) => void;
  /** Called when the connection breaks, before it is opened again. */
  onDisconnected: () => void;
}

const RECONNECT_MS_MIN = 200;
const RECONNECT_MS_MAX = 2_000;
/** How often the connection is checked, as one may break without an error. */
const CHECK_MS = 2_000;

/** Listens on a connection of its own until disposed of. Reconnects when the connection breaks. */
export function listenForChanges(options: ListenOptions): AsyncDisposable {
  const stop = new AbortController();
  const listening = listen(options, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await listening;
    },
  };
}

async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await listenUntilBroken(options, signal, () => (failures = 0));
    } catch (error) {
      if (signal.aborted) return;
      options.onDisconnected();
      options.log.warn({ err: error }, "the connection for change notifications broke; reconnecting");
    }
    const pauseMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** failures);
    await pause(pauseMs, { signal });
  }
}

async function listenUntilBroken(
  { url, channel, onListening, onChange }: ListenOptions,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECTION_MS,
    query_timeout: CONNECTION_MS,
    application_name: "maintainer-toolchain collect",
  });
  const broken = new Promise<never>((_, reject) => {
    client.on("error", reject);
    client.on("end", () => reject(new Error("the connection ended")));
  });
  // The rejection may come while nothing awaits it.
  broken.catch(() => undefined);
  try {
    await client.connect();
    client.on("notification", ({ payload = "" }) => onChange(payload));
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    onConnected();
    onListening();
    while (!signal.aborted) {
      await Promise.race([pause(CHECK_MS, { signal }), broken]);
      if (!signal.aborted) await client.query("select 1");
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}
