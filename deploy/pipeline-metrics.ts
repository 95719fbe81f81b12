import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { ENRICH_GROUP } from "../enrich/start-worker.js";
import type { ChunkOutcome } from "../schemas/chunk-outcome.js";
import type { LagReader } from "../schemas/event-log.js";

export interface PipelineMetrics {
  countOutcomes(outcomes: readonly ChunkOutcome[]): void;
  countParked(chunks: number): void;
  observeSettlement(settlement: { versions: number; durationMs: number }): void;
}

export interface PipelineSources {
  eventLog: LagReader;
  /** How many chunks wait for an operator now. */
  countParked: () => Promise<number>;
}

/** What an operator watches of the way from import to export. */
export function createPipelineMetrics(
  registry: Registry,
  { eventLog, countParked }: PipelineSources,
): PipelineMetrics {
  const registers = [registry];
  const chunks = new Counter({
    name: "enrich_chunks_total",
    help: "Chunks of imports that were enriched",
    registers,
  });
  const events = new Counter({
    name: "enrich_events_total",
    help: "Lines of imports by what became of them",
    labelNames: ["outcome"],
    registers,
  });
  const parked = new Counter({
    name: "enrich_chunks_parked_total",
    help: "Chunks that were set aside because they could not be enriched",
    registers,
  });
  new Gauge({
    name: "enrich_parked_chunks",
    help: "Chunks that are set aside now and wait for `admin parked retry` or `drop`",
    registers,
    async collect() {
      // Not known while the database is away; the other metrics are wanted most of all then.
      this.set(await countParked().catch(() => NaN));
    },
  });
  const settled = new Counter({
    name: "settlement_versions_total",
    help: "Event versions that settlement took back or brought back",
    registers,
  });
  const duration = new Histogram({
    name: "settlement_duration_seconds",
    help: "Time that one settlement of an import took",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  new Gauge({
    name: "event_log_lag_records",
    help: "Records that were appended and not yet enriched",
    registers,
    async collect() {
      this.set(await eventLog.lag(ENRICH_GROUP).catch(() => NaN));
    },
  });
  return {
    countOutcomes(outcomes) {
      chunks.inc(outcomes.length);
      for (const outcome of outcomes) {
        events.inc({ outcome: "imported" }, outcome.eventsImported);
        events.inc({ outcome: "rejected" }, outcome.eventsFailed);
      }
    },
    countParked: (chunks) => parked.inc(chunks),
    observeSettlement({ versions, durationMs }) {
      settled.inc(versions);
      duration.observe(durationMs / 1000);
    },
  };
}
