import pg from "pg";
import type { Logger } from "pino";
import { setTimeout as sleep } from "node:timers/promises";

export interface ChangesOptions {
  url: string;
  /** Of PostgreSQL's NOTIFY. */
  channel: string;
  log: Logger;
  /** Told whenever a connection listens anew: what was said before then was not heard. */
  onListening: () => void;
  onChange: (payload: string) => void;
  /** Told when nothing is heard any more; the connection is made again. */
  onDeaf: () => void;
}

const RECONNECT_MS_MIN = 200;
const RECONNECT_MS_MAX = 2_000;
/** How often the connection is tried: one that broke without a word is noticed by that. */
const TRY_MS = 2_000;
const CONNECTION_MS = 5_000;

/** Listens on a connection of its own, and makes it again when it breaks, until disposed of. */
export function followChanges(options: ChangesOptions): AsyncDisposable {
  const stop = new AbortController();
  const following = follow(options, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await following;
    },
  };
}

async function follow(options: ChangesOptions, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await listenUntilBroken(options, signal, () => (failures = 0));
    } catch (error) {
      if (signal.aborted) return;
      options.onDeaf();
      options.log.warn({ err: error }, "changes are not heard any more; connecting again");
    }
    const pauseMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** failures);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Resolves when it is told to stop, rejects when the connection is broken. */
async function listenUntilBroken(
  { url, channel, onListening, onChange }: ChangesOptions,
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
  // It may break while nobody waits for it.
  broken.catch(() => undefined);
  try {
    await client.connect();
    client.on("notification", ({ payload = "" }) => onChange(payload));
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    onConnected();
    onListening();
    while (!signal.aborted) {
      await Promise.race([sleep(TRY_MS, undefined, { signal }).catch(() => undefined), broken]);
      if (!signal.aborted) await client.query("select 1");
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}
