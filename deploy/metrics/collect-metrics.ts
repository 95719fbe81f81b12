import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";
import { COLLECT_KINDS, type CollectKind } from "../../ingest/collect/answer-request.js";

export interface CollectSources {
  /** Bytes of events that are not in the log yet. */
  bufferBytes: () => number;
  /** Whether changes of routes, domains and pixels are being received. */
  isFresh: () => boolean;
}

export interface CollectMetrics {
  onAnswered(kind: CollectKind, status: number): void;
  onEvent(): void;
  onLost(events: number): void;
  /** A page of a Python index could not be fetched, or a registry of an image could not be asked. */
  onUpstreamFailure(kind: Upstream): void;
}

const UPSTREAMS = ["docker", "python"] as const satisfies readonly CollectKind[];
type Upstream = (typeof UPSTREAMS)[number];

/** A timer of 10 ms, the default, takes an idle thread half a percent of a processor. */
const LAG_RESOLUTION_MS = 50;

/** Metrics of the role `collect`. No label is a host or a path. */
export function createCollectMetrics(registry: Registry, sources: CollectSources): CollectMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "collect_requests_total",
    help: "Requests to the collector by kind and status; the kind of requests that match nothing is `none`",
    labelNames: ["kind", "status"],
    registers,
  });
  const events = new Counter({
    name: "collect_events_total",
    help: "Events that the collector accepted, including those that were lost later",
    registers,
  });
  const lost = new Counter({
    name: "collect_events_lost_total",
    help: "Live events that were lost because the buffer was full while the event log was unavailable",
    registers,
  });
  const upstreamFailures = new Counter({
    name: "collect_upstream_failures_total",
    help: "Requests to Python indexes and image registries that failed or timed out",
    labelNames: ["kind"],
    registers,
  });
  new Gauge({
    name: "collect_buffer_bytes",
    help: "Bytes of live events that this process has not written to the event log yet",
    registers,
    collect() {
      this.set(sources.bufferBytes());
    },
  });
  new Gauge({
    name: "collect_sites_fresh",
    help:
      "1 while changes to routes, domains and pixels take effect within a second, 0 while the last " +
      "known state is served",
    registers,
    collect() {
      this.set(sources.isFresh() ? 1 : 0);
    },
  });
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  new Gauge({
    name: "collect_eventloop_lag_p99_seconds",
    help: "99th percentile of the collector thread's event loop delay since the last scrape",
    registers,
    collect() {
      this.set(Math.max(0, lag.percentile(99) / 1e9 - LAG_RESOLUTION_MS / 1e3));
      lag.reset();
    },
  });
  // Finding a series by its labels costs more than counting.
  const series = new Map<string, Counter.Internal>();
  for (const kind of COLLECT_KINDS) requests.inc({ kind, status: "200" }, 0);
  for (const kind of UPSTREAMS) upstreamFailures.inc({ kind }, 0);
  return {
    onAnswered(kind, status) {
      const key = `${kind} ${status}`;
      let one = series.get(key);
      if (one === undefined) series.set(key, (one = requests.labels({ kind, status: String(status) })));
      one.inc();
    },
    onEvent: () => events.inc(),
    onLost: (count) => lost.inc(count),
    onUpstreamFailure: (kind) => upstreamFailures.inc({ kind }),
  };
}
