import type { ClickHouseClient } from "@clickhouse/client";
import type { ChunkOutcome, ImportProgress } from "../schemas/chunk-outcome.js";
import type { Lookups } from "../schemas/enriched-event.js";
import type { EventLog, LogBatch, LogConsumer } from "../schemas/event-log.js";
import { decodeRawChunk, type RawChunk } from "../schemas/raw-chunk.js";
import { ArtifactCache, type ResolveArtifact } from "./artifact-cache.js";
import { enrichChunk } from "./enrich-chunk.js";
import { insertBlock, type BlockInsert } from "./insert-block.js";
import { EventBlock } from "./native/event-block.js";
import { LogBlock } from "./native/log-block.js";
import { retryWhileDown } from "./retry-while-down.js";

export const ENRICH_GROUP = "enrich";

/** About 60,000 events: blocks well above the size where ClickHouse's part count becomes the limit. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;

export interface WorkerDependencies {
  log: EventLog;
  clickhouse: ClickHouseClient;
  lookups: () => Lookups;
  resolveArtifact: ResolveArtifact;
  progress: ImportProgress;
  share: { index: number; of: number };
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  /** Told of every failed try; the worker itself tries again. */
  onRetry?: (error: unknown, what: string) => void;
}

/**
 * Consumes the event log: a batch of chunks becomes one insert into `events` and one into `import_log`, then
 * progress in PostgreSQL, then the commit. Cut short anywhere, the same range is formed again under the same token.
 */
export async function startWorker(dependencies: WorkerDependencies): Promise<LogConsumer> {
  const { log, share, resolveArtifact } = dependencies;
  const state = {
    ...dependencies,
    events: new EventBlock(),
    logs: new LogBlock(),
    artifacts: new ArtifactCache(resolveArtifact),
  };
  const options = { group: ENRICH_GROUP, batchBytesMax: BATCH_BYTES_MAX, share };
  return log.consume(options, (batch) => handleBatch(batch, state));
}

interface WorkerState extends WorkerDependencies {
  events: EventBlock;
  logs: LogBlock;
  artifacts: ArtifactCache;
}

async function handleBatch(batch: LogBatch, state: WorkerState): Promise<void> {
  const { events, logs, progress } = state;
  const again = <T>(what: string, work: () => Promise<T>) =>
    retryWhileDown(work, (error) => state.onRetry?.(error, what));
  const chunks = batch.records.map(({ value }) => decodeRawChunk(value));
  const passedOver = await again("asking for aborted imports", () => abortedImports(batch, chunks, progress));
  const outcomes = await again("enriching a batch", () => enrichBatch(chunks, passedOver, state));
  await batch.recordRange(passedOver.join(" "));
  for (const insert of insertsOf(batch, { events, logs }))
    await again("writing a batch to ClickHouse", () => insertBlock(state.clickhouse, insert));
  if (outcomes.length > 0) await again("writing progress", () => progress.putChunks(outcomes));
  await batch.commit();
  state.onOutcomes?.(outcomes);
}

/** A range that was recorded leaves out what it left out before: its token stands for exactly those rows. */
async function abortedImports(
  batch: LogBatch,
  chunks: readonly RawChunk[],
  progress: ImportProgress,
): Promise<string[]> {
  if (batch.recordedNote !== undefined) return batch.recordedNote.split(" ");
  return progress.abortedAmong([...new Set(chunks.map(({ importId }) => importId))]);
}

async function enrichBatch(
  chunks: readonly RawChunk[],
  passedOver: readonly string[],
  { events, logs, artifacts, lookups }: WorkerState,
): Promise<ChunkOutcome[]> {
  events.clear();
  logs.clear();
  const to = { events, log: logs, artifacts, lookups: lookups() };
  const outcomes: ChunkOutcome[] = [];
  for (const chunk of chunks) {
    if (passedOver.includes(chunk.importId)) continue;
    const outcome = await enrichChunk(chunk, to);
    if (chunk.source === "import") outcomes.push(outcome);
  }
  return outcomes;
}

function* insertsOf(
  batch: LogBatch,
  { events, logs }: { events: EventBlock; logs: LogBlock },
): Generator<BlockInsert> {
  if (events.rows > 0) yield { query: events.insertQuery, block: events.encode(), token: batch.token };
  if (logs.rows > 0) yield { query: logs.insertQuery, block: logs.encode(), token: `${batch.token}:log` };
}
