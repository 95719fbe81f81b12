import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { clientAddress } from "../../api/base/identity/client-address.js";
import { putFlushed, removeCollector } from "../../api/features/erasures/collectors.js";
import { createGuard } from "../../api/base/outbound/guard-address.js";
import { noteCollectionHost, readCollectionHosts } from "../../api/features/packages/hosts/public-hosts.js";
import { createCollectServer } from "../../ingest/collect/create-collect-server.js";
import { type LiveBuffer, openLiveBuffer } from "../../ingest/collect/live-buffer.js";
import { startRepeating, untilAborted } from "../../schemas/async/pause.js";
import { noteHosts } from "../../ingest/collect/sites.js";
import { createPullCounter } from "../../ingest/collect/docker/count-pulls.js";
import { createRegistryClient } from "../../ingest/collect/docker/registry-client.js";
import { createIndexClient } from "../../ingest/collect/python/fetch-index.js";
import { createPythonIndex } from "../../ingest/collect/python/python-index.js";
import type { Config } from "../config/config.js";
import { createCollectMetrics } from "../metrics/collect-metrics.js";
import { ClosingStack } from "../process/closing.js";
import { listen, trustsProxy } from "./servers/listen.js";
import { serverHooks } from "./servers/create-api-server.js";
import type { Stores } from "../stores/open-stores.js";
import { mirrorSites } from "./mirror-sites.js";
import { readinessOf } from "./readiness.js";

export interface OpenCollectOptions {
  config: Pick<Config, "collect" | "dataDir" | "logCodec" | "trustedProxies">;
  stores: Pick<Stores, "pg" | "postgresUrl" | "clickhouse" | "eventLog">;
  log: Logger;
  registry: Registry;
  /** The most bytes that are buffered while the event log is unavailable. */
  bufferBytesMax?: number;
}

export interface OpenCollect extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  caughtUp: () => Promise<void>;
  /** Answers the requests in progress, appends their events to the log, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** About 150,000 events: half a minute at 5,000 a second, the time a broker takes to restart. */
const BUFFER_BYTES_MAX = 48 * 1024 * 1024;
/** A warning at most this often while the event log is unavailable, not one for every chunk. */
const WARNING_MS = 10_000;

const clientOf = (address: string) =>
  clientAddress({ socket: { remoteAddress: address }, headers: {} }, () => false);

/**
 * Opens the mirror of packages and pixels, the buffer in front of the event log, the server. Throws
 * StartFailure when the port cannot be opened.
 */
export async function openCollect(options: OpenCollectOptions): Promise<OpenCollect> {
  const { config, stores, log, registry, bufferBytesMax = BUFFER_BYTES_MAX } = options;
  const open = new ClosingStack();
  try {
    const { verifiedHostsOnly } = config.collect;
    const source = { pg: stores.pg, url: stores.postgresUrl, log, verifiedHostsOnly };
    const mirror = open.use(await mirrorSites(source));
    const eventLog = await stores.eventLog();
    const metrics = createCollectMetrics(registry, {
      bufferBytes: () => buffer.bytes,
      isFresh: () => mirror.isFresh,
    });
    const name = `${hostname()}:${resolve(config.dataDir)}`;
    await putFlushed(stores.pg, name);
    // Once the buffer is empty or lost.
    open.defer(() => removeCollector(stores.pg, name).catch(() => undefined));
    const buffer = open.use(
      openLiveBuffer({
        log: eventLog,
        codec: config.logCodec,
        now: Date.now,
        newId: randomUUID,
        bytesMax: bufferBytesMax,
        onLost: (events) => metrics.onLost(events),
        onFailure: atMostEvery(WARNING_MS, (error) =>
          log.warn({ err: error }, "the event log does not accept live events; buffering and retrying"),
        ),
      }),
    );
    open.use(tellFlushes(buffer, () => putFlushed(stores.pg, name)));
    const { publicHost, host, port: wanted, allowPrivateUpstreams } = config.collect;
    // Any account can name an upstream, so only public addresses are allowed unless the operator says otherwise.
    const guard = createGuard({ allowPrivateNetworks: allowPrivateUpstreams });
    const registries = createRegistryClient(guard);
    open.defer(async () => registries[Symbol.dispose]());
    const trusts = trustsProxy(config.trustedProxies);
    const server = createCollectServer({
      collecting: {
        get sites() {
          return mirror.sites;
        },
        pythonIndex: createPythonIndex({
          fetchIndex: createIndexClient(guard),
          now: () => performance.now(),
          clientOf,
          onFailure(error, url) {
            metrics.onUpstreamFailure("python");
            log.warn({ err: error, url }, "could not fetch a page or file of a Python index");
          },
        }),
        imagePulls: {
          registries,
          counter: createPullCounter({ now: () => performance.now() }),
          via: `1.1 ${randomUUID()}`,
          clientOf,
          onFailure(error, url) {
            metrics.onUpstreamFailure("docker");
            log.warn({ err: error, url }, "a request to an image registry failed");
          },
        },
        ...(publicHost !== undefined && { publicHost }),
      },
      trustsProxy: trusts,
      hooks: serverHooks({ readiness: readinessOf(stores), log }),
      log,
      onEvent(line, { ownerId, address }) {
        metrics.onEvent();
        buffer.add(line, [ownerId, clientOf(address)]);
      },
      onAnswered: (kind, status) => metrics.onAnswered(kind, status),
      onCollectionHost: noteHosts({
        note: (name) => noteCollectionHost(stores.pg, name),
        readKnown: () => readCollectionHosts(stores.pg),
        now: Date.now,
        onFailure: (error) => log.warn({ err: error }, "could not save a host name of the collector"),
      }),
    });
    const { url, port } = open.use(await listen(server, { host, port: wanted, variable: "COLLECT_PORT" }));
    const caughtUp = () => mirror.caughtUp();
    return { url, port, caughtUp, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() };
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

const FLUSHED_EVERY_MS = 2_000;

/** Erasures wait for it. A PostgreSQL that is down is told of by others. */
function tellFlushes(buffer: Pick<LiveBuffer, "flushed">, tell: () => Promise<void>): AsyncDisposable {
  return startRepeating(
    async (signal) => {
      await untilAborted(buffer.flushed(), signal);
      await tell();
    },
    { everyMs: FLUSHED_EVERY_MS, onFailure: () => undefined },
  );
}

function atMostEvery<Argument>(ms: number, call: (argument: Argument) => void): (argument: Argument) => void {
  let calledAt = -Infinity;
  return (argument) => {
    if (performance.now() - calledAt < ms) return;
    calledAt = performance.now();
    call(argument);
  };
}
