import type { Pool } from "pg";
import type { Logger } from "pino";
import { pause } from "../../../schemas/async/pause.js";
import type { ClickHouseSource } from "./clickhouse-source.js";
import { prepareServers } from "./prepare-clickhouse.js";

/** How often servers that were unavailable at the start are looked for. */
const ROUND_MS = 15_000;

/**
 * Prepares the servers of ClickHouse. The program starts without the unavailable ones of a cluster: they are prepared once
 * they are back, until disposed of.
 */
export async function keepPrepared(
  source: ClickHouseSource,
  { lock, log }: { lock: Pool; log: Logger },
): Promise<AsyncDisposable> {
  const stop = new AbortController();
  const unavailable = await prepareServers(source, { lock });
  const finished = prepareRest(unavailable);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };

  async function prepareRest(servers: readonly string[]): Promise<void> {
    for (let left = servers; left.length > 0 && !stop.signal.aborted;) {
      log.warn(
        { servers: left },
        "servers of ClickHouse do not answer, or still fetch what their shard has; they are not read before",
      );
      await pause(ROUND_MS, { signal: stop.signal });
      if (!stop.signal.aborted) left = await prepareServers(source, { lock }).catch(() => left);
    }
  }
}
