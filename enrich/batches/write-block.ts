import { pause } from "../../schemas/async/pause.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { enrichChunk, type EnrichDependencies } from "./enrich-chunk.js";
import { INSERT_TRIES_MAX, insertLog, insertRows, type Refusal, type RowInserter } from "./insert-block.js";
import type { OpenBatch } from "./begin-batch.js";
import { isReadable, type Block } from "./batch-state.js";
import { StillDown } from "./retry-while-down.js";

export interface BlockWriter extends RowInserter, EnrichDependencies {
  batch: OpenBatch;
  blocks: BlockQueue;
  /** The token of the batch. */
  token: string;
  /** Lets other work of this thread go first. */
  betweenChunks?: () => Promise<unknown>;
}

/**
 * Lines can be short: a batch of ten-byte lines is cut into several inserts before it fills the memory. The limit is on
 * lines, not on their rows, so that the next attempt cuts between the same chunks. Excluded chunks count as zero
 * lines. That can move only later cuts, in blocks not yet written.
 */
const BLOCK_LINES_MAX = 200_000;
const ENRICH_TRIES_MAX = 3;
const PAUSE_MS = 250;

/**
 * Enriches a block, which may end early, and inserts it. A chunk that cannot be enriched, or whose rows
 * cannot be stored, is excluded from the batch; a store that is down is waited for.
 * @returns the outcomes of the chunks that were written
 */
export async function writeBlock(block: Block, writer: BlockWriter): Promise<ChunkOutcome[]> {
  const { batch, blocks } = writer;
  const failures = new Map<number, number>();
  for (;;) {
    const filled = await fillBlock(block, writer);
    await batch.end();
    if ("error" in filled) {
      await handleFailure(filled, { block, failures, batch });
      continue;
    }
    const written = blocks.endAt(block, filled.to);
    const refusal = await insertFilled(written, writer);
    if (refusal === undefined) return filled.outcomes;
    await handleRefusal(written, refusal, writer);
    return [];
  }
}

interface Filled {
  outcomes: ChunkOutcome[];
  to: number;
}

/** A chunk that could not be enriched; `certain` where another try is of no use. */
interface Failed {
  index: number;
  error: unknown;
  certain: boolean;
}

/** Fills the columns from the start, so that no rows remain of a chunk that failed half-way before. */
async function fillBlock(block: Block, writer: BlockWriter): Promise<Filled | Failed> {
  const { batch, events, logs } = writer;
  const outcomes: ChunkOutcome[] = [];
  const linesMax = isFirst(block) ? BLOCK_LINES_MAX : Infinity;
  let lines = 0;
  events.clear();
  logs.clear();
  for (const chunk of batch.wantedIn(block)) {
    const { index } = chunk;
    if (!isReadable(chunk)) return { index, error: chunk.unreadable, certain: true };
    const poison = batch.poisonReason(index);
    if (poison !== undefined) return { index, error: poison, certain: true };
    await batch.begin(index);
    try {
      const outcome = await enrichChunk(chunk.raw, writer);
      batch.clear(index);
      outcomes.push(outcome);
      lines += outcome.eventsTotal;
    } catch (error) {
      if (error instanceof StillDown) throw error;
      batch.clear(index);
      return { index, error, certain: false };
    }
    if (lines >= linesMax) return { outcomes, to: index + 1 };
    await writer.betweenChunks?.();
  }
  return { outcomes, to: block.to };
}

/**
 * Excludes a chunk after its last try, unless ClickHouse already has rows of the block. Then it throws: only the same
 * rows, under the same token, can complete the views, so the worker must try again. At the first attempt nothing of the
 * block was sent, so ClickHouse is not asked.
 */
async function handleFailure(
  { index, error, certain }: Failed,
  { block, failures, batch }: { block: Block; failures: Map<number, number>; batch: OpenBatch },
): Promise<void> {
  const failed = (failures.get(index) ?? 0) + 1;
  failures.set(index, failed);
  if (failed < ENRICH_TRIES_MAX && !certain) return pause(PAUSE_MS * failed);
  const { attempts } = batch.state;
  if (attempts > 1) await batch.requireUnwritten(block.from, error);
  const tries = attempts - 1 + failed;
  await batch.exclude(index, { reason: messageOf(error), tries, unwrittenFrom: block.from });
}

/** Answers why the events of a block cannot be stored; undefined when all is. */
async function insertFilled(block: Block, writer: BlockWriter): Promise<Refusal | undefined> {
  const { events, logs, batch } = writer;
  const token = `${writer.token}#${batch.blockName(block)}`;
  const refusal = await insertRows(events, { ...writer, token });
  events.clear();
  if (refusal === undefined) await insertLog(logs, { ...writer, token: `${token}:log` });
  logs.clear();
  return refusal;
}

/**
 * Halves a block until the chunk is found whose rows cannot be stored. The refusal and the end of the block are recorded
 * first: once parts of it are stored under tokens of their own, nothing of it may be sent under its token.
 */
async function handleRefusal(
  block: Block,
  { reason, cause }: Refusal,
  { batch, blocks }: BlockWriter,
): Promise<void> {
  // ClickHouse refuses unreadable bytes before it stores a row, but a view could refuse them as well.
  await batch.requireUnwritten(block.from, cause);
  const [one, ...others] = batch.wantedIn(block);
  batch.refuse(block);
  if (one !== undefined && others.length === 0) {
    await batch.exclude(one.index, { reason, tries: INSERT_TRIES_MAX, unwrittenFrom: block.from });
    return;
  }
  await batch.save();
  blocks.halve(block);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** The blocks of a batch, in the order in which they are written. */
export interface BlockQueue {
  /** The next block that is written whole; undefined at the end of the batch. */
  next(): Block | undefined;
  /** Ends a block before `to`: the chunks from there on become the next first block. */
  endAt(block: Block, to: number): Block;
  /** Has a block written in halves; one chunk has none. */
  halve(block: Block): void;
}

/** `refusedEnd` answers the end of a block that was refused before, which comes as its halves. */
export function queueBlocks(chunks: number, refusedEnd: (block: Block) => number | undefined): BlockQueue {
  /** A stack: the last element is the next block. */
  const pending: Block[] = [];
  let firstBlocks = 0;
  const planFrom = (from: number) => {
    if (from < chunks) pending.push({ from, to: chunks, name: String(firstBlocks++) });
  };
  const blocks: BlockQueue = {
    next() {
      for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
        const refusedTo = refusedEnd(block);
        if (refusedTo === undefined) return block;
        blocks.halve(blocks.endAt(block, refusedTo));
      }
      return undefined;
    },
    endAt(block, to) {
      if (isFirst(block)) planFrom(to);
      return { ...block, to };
    },
    halve({ from, to, name }) {
      if (to - from < 2) return;
      const middle = from + Math.ceil((to - from) / 2);
      pending.push({ from: middle, to, name: `${name}.1` }, { from, to: middle, name: `${name}.0` });
    },
  };
  planFrom(0);
  return blocks;
}

/** Only first blocks may end early: a half has fewer lines than its block, which did not. */
function isFirst({ name }: Block): boolean {
  return !name.includes(".");
}
