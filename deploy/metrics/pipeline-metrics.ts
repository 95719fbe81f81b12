import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Inserted } from "../../enrich/batches/insert-block.js";
import type { StagedBatch } from "../../api/features/imports/settlements.js";
import type { WrittenBatch } from "../../enrich/start-worker.js";
import { settlesWithin } from "../../schemas/async/pause.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { ENRICH_GROUP, type LagReader } from "../../schemas/records/event-log.js";
import { IMPORT_ENDINGS, type ImportEnding } from "../../schemas/records/import-store.js";

export interface EnrichmentMetrics {
  onOutcomes(outcomes: readonly ChunkOutcome[]): void;
  onDeadLetters(letters: number): void;
  onWritten(batch: WrittenBatch): void;
  onInserted(insert: Inserted): void;
  /** Counts records that the event log deleted before they were read. */
  onRecordsLost(records: number): void;
}

export interface PipelineMetrics {
  enrichment: EnrichmentMetrics;
  observeSettlement(settlement: { versions: number; durationMs: number }): void;
  countEnded(ending: ImportEnding, imports: number): void;
}

interface PipelineSources {
  eventLog: Pick<LagReader, "lag">;
  countDeadLetters: () => Promise<number>;
  /** Its age in seconds. */
  oldestErasure: () => Promise<number>;
  oldestStagedBatch: () => Promise<StagedBatch | undefined>;
}

export function createPipelineMetrics(registry: Registry, sources: PipelineSources): PipelineMetrics {
  createBacklogGauges(registry, sources);
  const registers = [registry];
  const settled = new Counter({
    name: "settlement_versions_total",
    help: "Event versions that settlement replaced, retracted or restored",
    registers,
  });
  const duration = new Histogram({
    name: "settlement_duration_seconds",
    help: "Duration of one settlement, which covers all waiting imports of one owner",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const ended = new Counter({
    name: "imports_ended_total",
    help: "Imports that ended: done, aborted by request, upload interrupted, or process lost during the upload",
    labelNames: ["ending"],
    registers,
  });
  // Starts each series at 0, because Prometheus sees no increase in a series that appears with 1.
  for (const ending of IMPORT_ENDINGS) ended.inc({ ending }, 0);
  return {
    enrichment: createEnrichmentMetrics(registry),
    observeSettlement({ versions, durationMs }) {
      settled.inc(versions);
      duration.observe(durationMs / 1000);
    },
    countEnded: (ending, imports) => ended.inc({ ending }, imports),
  };
}

/** Values of the whole system, which every process reports. NaN while their store is unavailable. */
function createBacklogGauges(registry: Registry, sources: PipelineSources): void {
  const { eventLog, countDeadLetters, oldestErasure, oldestStagedBatch } = sources;
  const registers = [registry];
  new Gauge({
    name: "settlement_staged_seconds",
    help: "Age of the oldest settlement batch that may be partly applied, by batch id; absent if there is none",
    labelNames: ["batch"],
    registers,
    async collect() {
      this.reset();
      const oldest = await orUnknown(oldestStagedBatch());
      if (oldest !== undefined) this.set({ batch: oldest.batch }, oldest.ageSeconds);
    },
  });
  new Gauge({
    name: "enrich_dead_letters",
    help: "Dead letters: chunks that could not be enriched and wait for `admin dead-letters retry` or `drop`",
    registers,
    async collect() {
      this.set((await orUnknown(countDeadLetters())) ?? NaN);
    },
  });
  new Gauge({
    name: "erasure_oldest_seconds",
    help: "Age of the oldest unfinished client erasure; the erasure's record says what it is waiting for",
    registers,
    async collect() {
      this.set((await orUnknown(oldestErasure())) ?? NaN);
    },
  });
  new Gauge({
    name: "event_log_lag_records",
    help: "Records in the event log that are not enriched yet",
    registers,
    async collect() {
      this.set((await orUnknown(eventLog.lag(ENRICH_GROUP))) ?? NaN);
    },
  });
}

/** Shorter than the timeout of a scrape, so that one store without an answer does not cost all metrics. */
const ANSWER_MS_MAX = 2_000;

async function orUnknown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return (await settlesWithin(answer, ANSWER_MS_MAX)) ? await answer : undefined;
  } catch {
    return undefined;
  }
}

function createEnrichmentMetrics(registry: Registry): EnrichmentMetrics {
  const registers = [registry];
  const chunks = new Counter({
    name: "enrich_chunks_total",
    help: "Chunks by outcome: enriched, or dead-letter if enrichment failed",
    labelNames: ["outcome"],
    registers,
  });
  const events = new Counter({
    name: "enrich_events_total",
    help: "Lines of imports by outcome: imported or rejected",
    labelNames: ["outcome"],
    registers,
  });
  const live = new Counter({
    name: "enrich_live_events_total",
    help: "Live events by outcome: stored, or rejected because their package or pixel was deleted",
    labelNames: ["outcome"],
    registers,
  });
  const batches = new Histogram({
    name: "enrich_batch_duration_seconds",
    help: "Time from reading a batch to its commit, by delivery: first, or again (after a crash or rebalance)",
    labelNames: ["delivery"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const inserts = new Histogram({
    name: "clickhouse_insert_duration_seconds",
    help: "Duration of an insert into ClickHouse by enrichment, including materialized views",
    labelNames: ["table", "shard"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const lost = new Counter({
    name: "event_log_records_lost_total",
    help: "Records that the event log deleted before they were read; their imports are incomplete",
    registers,
  });
  for (const outcome of ["enriched", "dead-letter"]) chunks.inc({ outcome }, 0);
  for (const outcome of ["imported", "rejected"]) events.inc({ outcome }, 0);
  for (const outcome of ["stored", "rejected"]) live.inc({ outcome }, 0);
  for (const delivery of ["first", "again"]) batches.zero({ delivery });
  return {
    onOutcomes(outcomes) {
      const enriched = outcomes.filter(({ deadLetter }) => deadLetter === undefined);
      chunks.inc({ outcome: "enriched" }, enriched.length);
      for (const outcome of outcomes.filter((each) => each.live)) {
        live.inc({ outcome: "stored" }, outcome.eventsImported);
        live.inc({ outcome: "rejected" }, outcome.eventsFailed);
      }
      for (const outcome of outcomes.filter((each) => !each.live)) {
        events.inc({ outcome: "imported" }, outcome.eventsImported);
        events.inc({ outcome: "rejected" }, outcome.eventsFailed);
      }
    },
    onDeadLetters: (letters) => chunks.inc({ outcome: "dead-letter" }, letters),
    onWritten: ({ durationMs, again }) =>
      batches.observe({ delivery: again ? "again" : "first" }, durationMs / 1000),
    onInserted: ({ table, shard, durationMs }) =>
      inserts.observe({ table, ...(shard !== undefined && { shard }) }, durationMs / 1000),
    onRecordsLost: (records) => lost.inc(records),
  };
}

/** A registry with the metrics of the process: memory, processor time, event loop lag, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
