import pg from "pg";
import type { Logger } from "pino";
import { pause } from "../../../schemas/async/pause.js";

export interface ListenOptions {
  url: string;
  /** The channel of PostgreSQL's NOTIFY. */
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
const CONNECTION_MS = 5_000;

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

/** Resolves when the signal is aborted, rejects when the connection breaks. */
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
