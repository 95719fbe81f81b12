import { pause } from "../../schemas/async/pause.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { enrichChunk, type EnrichDependencies } from "./enrich-chunk.js";
import { INSERT_TRIES_MAX, insertLog, insertRows, type Refusal, type RowInserter } from "./insert-block.js";
import type { OpenRange } from "./begin-batch.js";
import { isReadable } from "./batch-state.js";
import { StillDown } from "./retry-while-down.js";

export interface BlockWriter extends RowInserter, EnrichDependencies {
  range: OpenRange;
  plan: BlockPlan;
  /** The token of the batch. */
  token: string;
  /** Lets other work of this thread go first. */
  betweenChunks?: () => Promise<unknown>;
}

/**
 * Lines can be short: a batch of ten-byte lines is cut into several inserts before it fills the memory. The limit is on
 * lines, not on their rows, so that the next attempt cuts between the same records. Excluded records count as zero
 * lines. That can move only later cuts, in blocks not yet written.
 */
const BLOCK_LINES_MAX = 200_000;
const ENRICH_TRIES_MAX = 3;
const PAUSE_MS = 250;

/**
 * Enriches a block, which may end before its planned end, and inserts it. A chunk that cannot be enriched, or whose rows
 * cannot be stored, is excluded from the range; a store that is down is waited for.
 * @returns the outcomes of the chunks that were written
 */
export async function writeBlock(planned: Block, writer: BlockWriter): Promise<ChunkOutcome[]> {
  const { range, plan } = writer;
  const failures = new Map<number, number>();
  for (;;) {
    const filled = await fillBlock(planned, writer);
    await range.end();
    if ("error" in filled) {
      await handleFailure(filled, { planned, failures, range });
      continue;
    }
    const block = plan.endAt(planned, filled.to);
    const refusal = await insertFilled(block, writer);
    if (refusal === undefined) return filled.outcomes;
    await handleRefusal(block, refusal, writer);
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
async function fillBlock(planned: Block, writer: BlockWriter): Promise<Filled | Failed> {
  const { range, events, logs } = writer;
  const outcomes: ChunkOutcome[] = [];
  const linesMax = isFirst(planned) ? BLOCK_LINES_MAX : Infinity;
  let lines = 0;
  events.clear();
  logs.clear();
  for (const record of range.wantedIn(planned)) {
    const { index } = record;
    if (!isReadable(record)) return { index, error: record.unreadable, certain: true };
    const poison = range.poisonReason(index);
    if (poison !== undefined) return { index, error: poison, certain: true };
    await range.begin(index);
    try {
      const outcome = await enrichChunk(record.chunk, writer);
      range.clear(index);
      outcomes.push(outcome);
      lines += outcome.eventsTotal;
    } catch (error) {
      if (error instanceof StillDown) throw error;
      range.clear(index);
      return { index, error, certain: false };
    }
    if (lines >= linesMax) return { outcomes, to: index + 1 };
    await writer.betweenChunks?.();
  }
  return { outcomes, to: planned.to };
}

/**
 * Excludes a chunk after its last try, unless ClickHouse already has rows of the block. Then it throws: only the same
 * rows, under the same token, can complete the views, so the worker must try again. At the first attempt nothing of the
 * block was sent, so ClickHouse is not asked.
 */
async function handleFailure(
  { index, error, certain }: Failed,
  { planned, failures, range }: { planned: Block; failures: Map<number, number>; range: OpenRange },
): Promise<void> {
  const failed = (failures.get(index) ?? 0) + 1;
  failures.set(index, failed);
  if (failed < ENRICH_TRIES_MAX && !certain) return pause(PAUSE_MS * failed);
  const { attempts } = range.note;
  if (attempts > 1) await range.requireUnwritten(planned.from, error);
  const tries = attempts - 1 + failed;
  await range.exclude(index, { reason: messageOf(error), tries, unwrittenFrom: planned.from });
}

/** Answers why the events of a block cannot be stored; undefined when all is. */
async function insertFilled(block: Block, writer: BlockWriter): Promise<Refusal | undefined> {
  const { events, logs, range } = writer;
  const token = `${writer.token}#${range.blockName(block)}`;
  const refusal = await insertRows(events, { ...writer, token });
  events.clear();
  if (refusal === undefined) await insertLog(logs, { ...writer, token: `${token}:log` });
  logs.clear();
  return refusal;
}

/**
 * Halves a block until the chunk is found whose rows cannot be stored. The refusal and the end of the block are noted
 * first: once parts of it are stored under tokens of their own, nothing of it may be sent under its token.
 */
async function handleRefusal(
  block: Block,
  { reason, cause }: Refusal,
  { range, plan }: BlockWriter,
): Promise<void> {
  // ClickHouse refuses unreadable bytes before it stores a row, but a view could refuse them as well.
  await range.requireUnwritten(block.from, cause);
  const [one, ...others] = range.wantedIn(block);
  range.refuse(block);
  if (one !== undefined && others.length === 0) {
    await range.exclude(one.index, { reason, tries: INSERT_TRIES_MAX, unwrittenFrom: block.from });
    return;
  }
  await range.save();
  plan.halve(block);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Consecutive records of a batch, from an index to before another. */
export interface Span {
  from: number;
  to: number;
}

/** A span that is inserted under its own name: `0`, `1`, ... and, for the halves of `0`, `0.0` and `0.1`. */
export interface Block extends Span {
  name: string;
}

/** The blocks of a range, in the order in which they are written. */
export interface BlockPlan {
  /** The next block that is written whole; undefined at the end of the range. */
  next(): Block | undefined;
  /** Ends a block before `to`: the records from there on become the next first block. */
  endAt(block: Block, to: number): Block;
  /** Has a block written in halves; one record has none. */
  halve(block: Block): void;
}

/** `refusedEnd` answers the end of a block that was refused before, which comes as its halves. */
export function planBlocks(records: number, refusedEnd: (block: Block) => number | undefined): BlockPlan {
  /** A stack: the last element is the next block. */
  const pending: Block[] = [];
  let firstBlocks = 0;
  const planFrom = (from: number) => {
    if (from < records) pending.push({ from, to: records, name: String(firstBlocks++) });
  };
  const plan: BlockPlan = {
    next() {
      for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
        const refusedTo = refusedEnd(block);
        if (refusedTo === undefined) return block;
        plan.halve(plan.endAt(block, refusedTo));
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
  return plan;
}

/** Only first blocks may end early: a half has fewer lines than its block, which did not. */
function isFirst({ name }: Block): boolean {
  return !name.includes(".");
}
