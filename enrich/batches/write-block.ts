import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { ArtifactCache } from "./artifact-cache.js";
import type { LiveArtifacts } from "./live-artifacts.js";
import { enrichChunk } from "./enrich-chunk.js";
import { INSERT_TRIES_MAX, insertLog, insertRows, type Refusal, type RowInserter } from "./insert-rows.js";
import type { EventBlock } from "../native/event-block.js";
import type { LogBlock } from "../native/log-block.js";
import type { Block, OpenRange } from "./open-range.js";
import { isReadable, type ReadableRecord } from "./read-records.js";
import { pause, StillDown } from "./retry-while-down.js";

export interface BlockWriter extends RowInserter {
  lookups: () => Lookups;
  artifacts: ArtifactCache;
  live: LiveArtifacts;
  /** Emptied and filled again for every insert: a worker writes one batch at a time. */
  events: EventBlock;
  logs: LogBlock;
}

/**
 * Lines can be short: a batch of ten-byte lines is cut into several inserts before it fills the memory. Lines are
 * counted, not the rows made of them: a second time, the same records must be cut at the same places. What is left
 * out counts none: that moves the cuts only from its own block on, of which nothing is written yet.
 */
const BLOCK_LINES_MAX = 200_000;
const ENRICH_TRIES_MAX = 3;
const PAUSE_MS = 250;

/**
 * Enriches the records of a range and inserts them, block after block, under `token`. A chunk that cannot be enriched,
 * or whose rows cannot be stored, is left out of the range; a store that is down is waited for.
 * @returns the outcomes of the chunks that were written
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

/** Fills a block up, maybe before its end, and inserts it; answers where the next one begins. */
async function writeBlock(room: Block, writing: Writing): Promise<number> {
  const { range, outcomes } = writing;
  const refusedTo = range.refusedEnd(room);
  if (refusedTo !== undefined) return writeHalves({ ...room, to: refusedTo }, writing);
  const filled = await fillBlock(room, writing);
  const block = { ...room, to: filled.to };
  const refusal = await insertFilled(block, writing);
  if (refusal !== undefined) return writeRefused(block, refusal, writing);
  outcomes.push(...filled.outcomes);
  return filled.to;
}

/**
 * Looks for the chunk whose rows cannot be stored. That the block was refused is remembered first, with its end:
 * nothing of it may be sent under its own token once parts of it are stored under theirs.
 */
async function writeRefused(block: Block, { reason, cause }: Refusal, writing: Writing): Promise<number> {
  const { range } = writing;
  // Bytes that cannot be read are refused before a row is stored; but what if a view said so.
  await range.requireUnwritten(block.from, cause);
  const [one, ...others] = range.records
    .slice(block.from, block.to)
    .filter((record) => range.isWanted(record));
  range.refuse(block);
  if (one === undefined || others.length > 0) {
    await range.save();
    return writeHalves(block, writing);
  }
  await range.exclude(one.index, { reason, tries: INSERT_TRIES_MAX, unwrittenFrom: block.from });
  return block.to;
}

async function writeHalves({ from, to, name }: Block, writing: Writing): Promise<number> {
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
async function fillBlock(room: Block, writing: Writing): Promise<Filled> {
  const failures = new Map<number, number>();
  for (;;) {
    const filled = await tryToFill(room, writing);
    await writing.range.end();
    if ("to" in filled) return filled;
    const failed = (failures.get(filled.index) ?? 0) + 1;
    failures.set(filled.index, failed);
    if (failed < ENRICH_TRIES_MAX && !filled.certain) await pause(PAUSE_MS * failed);
    else await exclude(filled, { room, failed }, writing);
  }
}

/**
 * A token that was ever sent stands for the rows that were sent with it. Begun for the first time, nothing of a block
 * was sent before all of it was enriched. Begun before, only ClickHouse knows. Where it has rows, the chunk was enriched
 * well once, and a crash may have kept them from some views, which only the same rows can complete: then the worker
 * ends, and tries until they are the same again.
 */
async function exclude(
  { index, error }: Failed,
  { room, failed }: { room: Block; failed: number },
  { range }: Writing,
): Promise<void> {
  const { attempts } = range.note;
  if (attempts > 1) await range.requireUnwritten(room.from, error);
  const tries = attempts - 1 + failed;
  await range.exclude(index, { reason: messageOf(error), tries, unwrittenFrom: room.from });
}

/** A chunk that could not be enriched; `certain` where trying again is of no use. */
interface Failed {
  index: number;
  error: unknown;
  certain: boolean;
}

async function tryToFill({ from, to }: Block, writing: Writing): Promise<Filled | Failed> {
  const { range, events, logs } = writing;
  const outcomes: ChunkOutcome[] = [];
  let lines = 0;
  events.clear();
  logs.clear();
  for (const record of range.records.slice(from, to)) {
    if (!range.isWanted(record)) continue;
    const { index } = record;
    if (!isReadable(record)) return { index, error: record.unreadable, certain: true };
    const poison = range.poisonReason(index);
    if (poison !== undefined) return { index, error: poison, certain: true };
    const outcome = await tryToEnrich(record, writing);
    if ("error" in outcome) return { index, ...outcome, certain: false };
    outcomes.push(outcome);
    lines += outcome.eventsTotal;
    if (lines >= BLOCK_LINES_MAX) return { outcomes, to: index + 1 };
  }
  return { outcomes, to };
}

async function tryToEnrich(
  { index, chunk }: ReadableRecord,
  { range, events, logs, artifacts, live, lookups }: Writing,
): Promise<ChunkOutcome | { error: unknown }> {
  await range.begin(index);
  try {
    const outcome = await enrichChunk(chunk, { events, log: logs, artifacts, live, lookups });
    range.clear(index);
    return outcome;
  } catch (error) {
    if (error instanceof StillDown) throw error;
    range.clear(index);
    return { error };
  }
}

/** Answers why the events of a block cannot be stored; undefined when all is. */
async function insertFilled(block: Block, writing: Writing): Promise<Refusal | undefined> {
  const { events, logs } = writing;
  const token = `${writing.token}#${writing.range.blockName(block)}`;
  const refusal = await insertRows(events, { ...writing, token });
  events.clear();
  if (refusal === undefined) await insertLog(logs, { ...writing, token: `${token}:log` });
  logs.clear();
  return refusal;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
