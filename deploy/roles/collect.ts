import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { openLiveBuffer } from "../../ingest/collect/live-buffer.js";
import { ClosingStack } from "../process/closing-stack.js";
import { createCollectMetrics } from "../metrics/collect-metrics.js";
import type { Config } from "../config/config.js";
import { createCollectServer } from "../../ingest/collect/create-collect-server.js";
import { keepSites } from "./mirror-sites.js";
import { httpManners } from "../servers/http-manners.js";
import { listen } from "../servers/listen.js";
import { openPythonIndex } from "./open-python-index.js";
import type { Stores } from "../stores/open-stores.js";
import { readinessOf } from "./readiness.js";
import { trustsProxy } from "../servers/trusts-proxy.js";

export interface OpenCollectOptions {
  config: Pick<Config, "collect" | "logCodec" | "trustedProxies">;
  stores: Pick<Stores, "pg" | "postgresUrl" | "clickhouse" | "eventLog">;
  log: Logger;
  registry: Registry;
  /** The most that is held of events which the log does not take. */
  bufferBytesMax?: number;
}

export interface OpenCollect extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Answers what is asked, appends the events of all answers to the log, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** About 150,000 events: half a minute at 5,000 a second, which is as long as a broker takes to come back. */
const BUFFER_BYTES_MAX = 48 * 1024 * 1024;
/** A log that is away is told of so often, not for every chunk. */
const COMPLAINT_MS = 10_000;

/** Serves live collection on its port. Throws StartFailure when it cannot be had. */
export async function openCollect(options: OpenCollectOptions): Promise<OpenCollect> {
  const { config, stores, log, registry, bufferBytesMax = BUFFER_BYTES_MAX } = options;
  const open = new ClosingStack();
  try {
    const kept = open.use(await keepSites({ pg: stores.pg, url: stores.postgresUrl, log }));
    const eventLog = await stores.eventLog();
    const metrics = createCollectMetrics(registry, {
      bufferBytes: () => buffer.bytes,
      isFresh: () => kept.isFresh,
    });
    const buffer = open.use(
      openLiveBuffer({
        log: eventLog,
        codec: config.logCodec,
        now: Date.now,
        newId: randomUUID,
        bytesMax: bufferBytesMax,
        onLost: (events) => metrics.onLost(events),
        onFailure: seldom(COMPLAINT_MS, (error) =>
          log.warn({ err: error }, "the event log does not take live events; they are kept and tried again"),
        ),
      }),
    );
    const { publicHost, host, port: wanted } = config.collect;
    const trusts = trustsProxy(config.trustedProxies);
    const server = createCollectServer({
      collecting: {
        get sites() {
          return kept.sites;
        },
        pythonIndex: openPythonIndex(config.collect, log),
        ...(publicHost !== undefined && { publicHost }),
      },
      trustsProxy: trusts,
      http: httpManners({ readiness: readinessOf(stores), trustsProxy: trusts, log }),
      log,
      onEvent(line) {
        metrics.onEvent();
        buffer.add(line);
      },
      onAnswered: (kind, status) => metrics.onAnswered(kind, status),
    });
    const { url, port } = open.use(await listen(server, { host, port: wanted, variable: "COLLECT_PORT" }));
    return { url, port, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

function seldom<Told>(everyMs: number, tell: (told: Told) => void): (told: Told) => void {
  let toldAt = -Infinity;
  return (told) => {
    if (performance.now() - toldAt < everyMs) return;
    toldAt = performance.now();
    tell(told);
  };
}
