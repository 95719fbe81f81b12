import type { ClickHouseClient } from "@clickhouse/client";
import type { ChunkOutcome } from "../schemas/chunk-outcome.js";
import type { Lookups } from "../schemas/enriched-event.js";
import { passFaultPoint } from "../schemas/fault-point.js";
import type { ArtifactCache } from "./artifact-cache.js";
import { enrichChunk } from "./enrich-chunk.js";
import { insertBlock } from "./insert-block.js";
import type { EventBlock } from "./native/event-block.js";
import type { LogBlock } from "./native/log-block.js";
import type { OpenRange, Span } from "./open-range.js";
import { isReadable, type ReadableRecord } from "./read-records.js";
import { isRefusedData } from "./refused-data.js";
import { pause, StillDown, type Again } from "./retry-while-down.js";

export interface BlockWriter {
  clickhouse: ClickHouseClient;
  lookups: () => Lookups;
  artifacts: ArtifactCache;
  /** Emptied and filled again for every insert: a worker writes one batch at a time. */
  events: EventBlock;
  logs: LogBlock;
  again: Again;
}

/**
 * Lines can be short: a batch of ten-byte lines is cut into several inserts before it fills the memory. Lines are
 * counted, not the rows made of them: a second time, the same records must be cut at the same places. What is left
 * out counts none: that moves the cuts only from its own block on, of which nothing is written yet.
 */
const BLOCK_LINES_MAX = 200_000;
/** Of enriching one chunk, and of inserting one block that ClickHouse cannot read. */
const TRIES_MAX = 3;
const PAUSE_MS = 250;

/**
 * Enriches the records of a range and inserts them, block after block, under `token`. A chunk that cannot be enriched,
 * or whose rows ClickHouse cannot read, is left out of the range; a store that is down is waited for.
 * @returns the outcomes of the imports' chunks that were written
 */
export async function writeBlocks(
  range: OpenRange,
  { token, ...writer }: BlockWriter & { token: string },
): Promise<ChunkOutcome[]> {
  const outcomes: ChunkOutcome[] = [];
  const writing = { ...writer, range, outcomes, token, lookups: writer.lookups() };
  let from = 0;
  for (let block = 0; from < range.records.length; block++)
    from = await writeBlock({ from, to: range.records.length, name: String(block) }, writing);
  return outcomes;
}

interface Writing extends Omit<BlockWriter, "lookups"> {
  range: OpenRange;
  outcomes: ChunkOutcome[];
  token: string;
  /** One set of tables for the whole batch. */
  lookups: Lookups;
}

/** A place for a block: it may fill up before its end. */
interface Room extends Span {
  name: string;
}

/** Answers where the next block begins. */
async function writeBlock(room: Room, writing: Writing): Promise<number> {
  const { range, outcomes } = writing;
  const refusedTo = range.note.refused.get(room.name);
  if (refusedTo !== undefined) return writeHalves({ ...room, to: refusedTo }, writing);
  const filled = await fillBlock(room, writing);
  const block = { ...room, to: filled.to };
  const refusal = await insertFilled(range.blockName(room.name, block), writing);
  if (refusal !== undefined) return writeRefused(block, refusal, writing);
  outcomes.push(...filled.outcomes);
  return filled.to;
}

/**
 * Looks for the chunk that ClickHouse cannot read. That the block was refused is remembered first, with its end: nothing
 * of it may be sent under its own token once parts of it are stored under theirs.
 */
async function writeRefused(block: Room, refusal: Error, writing: Writing): Promise<number> {
  const { range } = writing;
  // Bytes that cannot be read are refused before a row is stored; but what if a view said so.
  await range.requireUnwritten(block.from, refusal);
  range.note.refused.set(block.name, block.to);
  const [one, ...others] = range.records
    .slice(block.from, block.to)
    .filter((record) => range.isWanted(record));
  if (one === undefined || others.length > 0) {
    await range.save();
    return writeHalves(block, writing);
  }
  const reason = `ClickHouse cannot read its rows: ${refusal.message}`;
  await range.leaveOut(one.index, { reason, tries: TRIES_MAX });
  return block.to;
}

async function writeHalves({ from, to, name }: Room, writing: Writing): Promise<number> {
  if (to - from < 2) return to;
  const middle = from + Math.ceil((to - from) / 2);
  await writeBlock({ from, to: middle, name: `${name}.0` }, writing);
  await writeBlock({ from: middle, to, name: `${name}.1` }, writing);
  return to;
}

interface Filled {
  outcomes: ChunkOutcome[];
  to: number;
}

/** Begins anew after a chunk that threw: its rows must not stay in the block in part. */
async function fillBlock(room: Room, writing: Writing): Promise<Filled> {
  const failures = new Map<number, number>();
  for (;;) {
    const filled = await tryToFill(room, writing);
    if ("to" in filled) return filled;
    const failed = (failures.get(filled.index) ?? 0) + 1;
    failures.set(filled.index, failed);
    if (failed < TRIES_MAX && !filled.certain) await pause(PAUSE_MS * failed);
    else await leaveOut(filled, { room, failed }, writing);
  }
}

/**
 * A token that was ever sent stands for the rows that were sent with it. Begun for the first time, nothing of a block
 * was sent before all of it was enriched. Begun before, only ClickHouse knows. Where it has rows, the chunk was enriched
 * well once, and a crash may have kept them from some views, which only the same rows can complete: then the worker
 * ends, and tries until they are the same again.
 */
async function leaveOut(
  { index, error }: Failed,
  { room, failed }: { room: Room; failed: number },
  { range }: Writing,
): Promise<void> {
  const { begun } = range.note;
  if (begun > 1) await range.requireUnwritten(room.from, error);
  await range.leaveOut(index, { reason: messageOf(error), tries: begun - 1 + failed });
}

/** A chunk that could not be enriched; `certain` where trying again is of no use. */
interface Failed {
  index: number;
  error: unknown;
  certain: boolean;
}

async function tryToFill({ from, to }: Room, writing: Writing): Promise<Filled | Failed> {
  const { range, events, logs } = writing;
  const outcomes: ChunkOutcome[] = [];
  let lines = 0;
  events.clear();
  logs.clear();
  for (const record of range.records.slice(from, to)) {
    if (!range.isWanted(record)) continue;
    const { index } = record;
    if (!isReadable(record)) return { index, error: record.unreadable, certain: true };
    const deadly = range.deadly(index);
    if (deadly !== undefined) return { index, error: deadly, certain: true };
    const outcome = await tryToEnrich(record, writing);
    if ("error" in outcome) return { index, ...outcome, certain: false };
    if (record.chunk.source === "import") outcomes.push(outcome);
    lines += outcome.eventsTotal;
    if (lines < BLOCK_LINES_MAX) continue;
    await range.release();
    return { outcomes, to: index + 1 };
  }
  await range.release();
  return { outcomes, to };
}

async function tryToEnrich(
  { index, chunk }: ReadableRecord,
  { range, events, logs, artifacts, lookups }: Writing,
): Promise<ChunkOutcome | { error: unknown }> {
  await range.hold(index);
  try {
    return await enrichChunk(chunk, { events, log: logs, artifacts, lookups });
  } catch (error) {
    await range.release();
    if (error instanceof StillDown) throw error;
    return { error };
  }
}

/** Answers why ClickHouse cannot read the block of events; undefined when all is stored. */
async function insertFilled(
  name: string,
  { events, logs, token, clickhouse, again }: Writing,
): Promise<Error | undefined> {
  const blocks = [
    { query: events.insertQuery, rows: events.rows, block: events.encode(), token: `${token}#${name}` },
    { query: logs.insertQuery, rows: logs.rows, block: logs.encode(), token: `${token}#${name}:log` },
  ];
  events.clear();
  logs.clear();
  for (const { rows, ...insert } of blocks) {
    if (rows === 0) continue;
    passFaultPoint("before-insert");
    const refusal = await insertUnlessRefused(insert, { clickhouse, again });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

async function insertUnlessRefused(
  insert: Parameters<typeof insertBlock>[1],
  { clickhouse, again }: Pick<BlockWriter, "clickhouse" | "again">,
): Promise<Error | undefined> {
  for (let tried = 1; ; tried++) {
    const refusal = await again("writing to ClickHouse", async () => {
      try {
        await insertBlock(clickhouse, insert);
      } catch (error) {
        if (isRefusedData(error)) return error as Error;
        throw error;
      }
      return undefined;
    });
    if (refusal === undefined || tried === TRIES_MAX) return refusal;
    await pause(PAUSE_MS * tried);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
