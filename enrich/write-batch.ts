import type { ClickHouseClient } from "@clickhouse/client";
import type { ChunkOutcome, ImportProgress } from "../schemas/chunk-outcome.js";
import type { Lookups } from "../schemas/enriched-event.js";
import type { LogBatch } from "../schemas/event-log.js";
import { passFaultPoint } from "../schemas/fault-point.js";
import { decodeRawChunk, type RawChunk } from "../schemas/raw-chunk.js";
import type { ArtifactCache } from "./artifact-cache.js";
import { enrichChunk } from "./enrich-chunk.js";
import { insertBlock } from "./insert-block.js";
import type { EventBlock } from "./native/event-block.js";
import type { LogBlock } from "./native/log-block.js";

/** Does work that a store's absence may fail, until it succeeds; `what` says in the log what was tried. */
export type Again = <T>(what: string, work: () => Promise<T>) => Promise<T>;

export interface BatchWriter {
  clickhouse: ClickHouseClient;
  progress: ImportProgress;
  lookups: () => Lookups;
  artifacts: ArtifactCache;
  /** Emptied and filled again for every insert: a worker writes one batch at a time. */
  events: EventBlock;
  logs: LogBlock;
  again: Again;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
}

/**
 * Lines can be short: a batch of ten-byte lines is cut into several inserts before it fills the memory. Lines are
 * counted, not the rows made of them: a second time, the same records must be cut at the same places.
 */
const BLOCK_LINES_MAX = 200_000;

/**
 * Writes a batch: its range is recorded, its chunks become inserts into `events` and `import_log` under the range's
 * token, then progress goes to PostgreSQL, then the batch is committed. Cut short anywhere, the same range is formed
 * again and written under the same tokens, of which ClickHouse keeps one copy.
 */
export async function writeBatch(batch: LogBatch, writer: BatchWriter): Promise<void> {
  const { again, progress } = writer;
  const chunks = batch.records.map(({ value }) => decodeRawChunk(value));
  const passedOver = await again("asking for aborted imports", () => abortedImports(batch, chunks, progress));
  passFaultPoint("before-range");
  await batch.recordRange(passedOver.join(" "));
  passFaultPoint("after-range");
  const wanted = chunks.filter(({ importId }) => !passedOver.includes(importId));
  const outcomes = await writeChunks(wanted, batch.token, writer);
  passFaultPoint("after-insert");
  if (outcomes.length > 0) await again("writing progress", () => progress.putChunks(outcomes));
  passFaultPoint("after-progress");
  await batch.commit();
  writer.onOutcomes?.(outcomes);
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

async function writeChunks(
  chunks: readonly RawChunk[],
  token: string,
  writer: BatchWriter,
): Promise<ChunkOutcome[]> {
  const { events, logs, artifacts } = writer;
  const to = { events, log: logs, artifacts, lookups: writer.lookups() };
  const outcomes: ChunkOutcome[] = [];
  let inserts = 0;
  let lines = 0;
  events.clear();
  logs.clear();
  for (const chunk of chunks) {
    const outcome = await enrichChunk(chunk, to);
    if (chunk.source === "import") outcomes.push(outcome);
    lines += outcome.eventsTotal;
    if (lines < BLOCK_LINES_MAX) continue;
    await insertBlocks(`${token}#${inserts++}`, writer);
    lines = 0;
  }
  await insertBlocks(`${token}#${inserts}`, writer);
  return outcomes;
}

async function insertBlocks(token: string, { clickhouse, events, logs, again }: BatchWriter): Promise<void> {
  for (const [block, name] of [[events, token] as const, [logs, `${token}:log`] as const]) {
    if (block.rows === 0) continue;
    const insert = { query: block.insertQuery, block: block.encode(), token: name };
    block.clear();
    passFaultPoint("before-insert");
    await again("writing to ClickHouse", () => insertBlock(clickhouse, insert));
  }
}
