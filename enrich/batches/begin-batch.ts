import type { InsertLock } from "../../schemas/records/settlement.js";
import type { Shard, Shards } from "../../schemas/shards.js";
import type { ChunkOutcome, DeadLetterEntry } from "../../schemas/records/chunk-outcome.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { hasRows } from "./chunk-rows.js";
import {
  excludeChunks,
  fitsState,
  newState,
  resumeState,
  type BatchState,
  addRefused,
  formatState,
  formatRanges,
  refusedEnd,
  isReadable,
  readChunks,
  type BatchChunk,
  type Block,
} from "./batch-state.js";
import type { Again } from "./retry-while-down.js";
import {
  type ThreadMutex,
  openPoisonDetection,
  type DetectionDependencies,
  type PoisonDetection,
} from "./poison-detection.js";

export interface BatchBeginner {
  /** Statements of api/features/imports/import-progress.ts. */
  progress: {
    abortedAmong(importIds: readonly string[]): Promise<string[]>;
    /**
     * Counts each chunk once, whatever is replayed. Answers the log entries of former dead letters: delete
     * these, then call `replaceDeadLetters`.
     */
    putChunks(outcomes: readonly ChunkOutcome[]): Promise<DeadLetterEntry[]>;
    /** Replaces the outcome of each chunk that was a dead letter; changes nothing for other chunks. */
    replaceDeadLetters(outcomes: readonly ChunkOutcome[]): Promise<void>;
  };
  /** Statements of api/base/postgres/insert-lock.ts, and aggregate/settlement/recount.ts. */
  recounts: {
    whileInserting: InsertLock["whileInserting"];
    /** Another text after each recount that began. */
    latest(): Promise<string>;
    /** Makes the tables of the views agree with `events` about the chunks of these stamps and the rest of their days. */
    recount(shard: Shard, stamps: readonly number[]): Promise<void>;
  };
  shards: Shards;
  again: Again;
  mutex: ThreadMutex;
  /** Once aborted, the current batch is the last. */
  stopping: AbortSignal;
  /** The batch that is being written, for callers that wait for a store in the middle of it. */
  current: { batch?: OpenBatch };
}

type Beginning = BatchBeginner & Pick<BatchState, "basis">;

/**
 * A batch that an earlier attempt recorded keeps its exclusions, so that its tokens still name the same rows.
 */
export async function beginBatch(logBatch: LogBatch, beginner: Beginning): Promise<OpenBatch> {
  const { recordedNote } = logBatch;
  const chunks = readChunks(logBatch);
  const state = recordedNote === undefined ? await firstState(chunks, beginner) : resumeState(recordedNote);
  const batch = openBatch(logBatch, chunks, { ...beginner, state });
  beginner.current.batch = batch;
  passFaultPoint("before-range");
  await batch.save();
  passFaultPoint("after-range");
  return batch;
}

/** Unreadable chunks are excluded from the start: nothing of this batch was ever sent. */
async function firstState(chunks: readonly BatchChunk[], beginner: Beginning): Promise<BatchState> {
  const { again, progress, shards, basis } = beginner;
  const imported = chunks.filter(isReadable).filter(({ raw }) => raw.source === "import");
  const importIds = [...new Set(imported.map(({ raw }) => raw.importId))];
  const aborted = await again("reading aborted imports", () => progress.abortedAmong(importIds));
  const chosen = await again("choosing a shard", async () => {
    const shard = await shards.choose();
    return { shard: shard.name, serverStart: await shard.startedAt() };
  });
  const skipped = [...(await storedBefore(chunks, beginner)), ...aborted];
  const state = newState(skipped, { basis, ...chosen });
  excludeUnreadable(state, chunks);
  return state;
}

/**
 * Live chunks that were appended twice, because the first append succeeded without an answer. The first copy
 * is stored, or in this batch.
 */
async function storedBefore(
  chunks: readonly BatchChunk[],
  { again, shards }: BatchBeginner,
): Promise<string[]> {
  const found: string[] = [];
  for (const { raw } of chunks.filter(isReadable)) {
    if (raw.source !== "collect" || raw.sequence === 0 || found.includes(raw.importId)) continue;
    if (await again("checking for existing rows", () => hasRows(shards, [raw]))) found.push(raw.importId);
  }
  return found;
}

/** If the state cannot hold them all, it holds the first ones and excludes every chunk after them. */
function excludeUnreadable(state: BatchState, chunks: readonly BatchChunk[]): void {
  const reasons = chunks.flatMap((chunk): [number, string][] =>
    isReadable(chunk) ? [] : [[chunk.index, chunk.unreadable]],
  );
  let kept = reasons.length;
  state.excluded = new Map(reasons);
  while (kept > 0 && !fitsState(state)) {
    kept = Math.floor(kept / 2);
    state.excluded = new Map(reasons.slice(0, kept));
  }
  const [from] = reasons[kept] ?? [chunks.length];
  excludeChunks(state, { from, to: chunks.length });
  for (const [index, reason] of reasons) state.excluded.set(index, reason);
}

export interface OpenBatch extends PoisonDetection {
  readonly chunks: readonly BatchChunk[];
  readonly state: BatchState;
  readonly tries: ReadonlyMap<number, number>;
  wantedIn(block: Block): BatchChunk[];
  /** Names a block for its token. The name holds the excluded chunks, so that a token stands for the same rows. */
  blockName(block: Block): string;
  save(): Promise<void>;
  /**
   * Call right before an insert: while this process stood still, another consumer may have written the batch,
   * and ClickHouse knows the tokens of a limited number of inserts. Throws BatchLost.
   */
  requireOwned(): Promise<void>;
  /** Whether rows of it may have been sent before. */
  isRepeated(): boolean;
  onRepeated(): void;
  /** Throws unless nothing is stored of the chunks from `from` on. */
  requireUnwritten(from: number, cause: unknown): Promise<void>;
  /** The end of a block that was refused at an earlier attempt; undefined for every other. */
  refusedEnd(block: Block): number | undefined;
  /** Marks, without saving yet, that a block is refused. Nothing from its beginning on may be stored. */
  refuse(block: Block): void;
  exclude(index: number, why: Exclusion): Promise<void>;
}

interface Exclusion {
  reason: string;
  tries: number;
  /** Nothing is stored from this index on. */
  unwrittenFrom: number;
}

interface OpenBatchDependencies extends Omit<DetectionDependencies, "save"> {
  shards: Shards;
  again: Again;
}

/** Excludes all chunks that are not written yet if the state grows too large: an operator can retry them. */
export function openBatch(
  logBatch: LogBatch,
  chunks: readonly BatchChunk[],
  { state, shards, again, ...detecting }: OpenBatchDependencies,
): OpenBatch {
  const tries = new Map<number, number>();
  let isRepeated = state.attempts > 1;
  const repeated = repeatedAmong(chunks);
  let sinceRecorded = startStopwatch();
  const recordBatch = async () => {
    const sinceBegun = startStopwatch();
    await logBatch.recordRange(formatState(state));
    sinceRecorded = sinceBegun;
  };
  const save = () => again("saving the state of the batch", recordBatch);
  const excludeFrom = (from: number) => excludeChunks(state, { from, to: chunks.length });
  return {
    ...openPoisonDetection({ state, save, ...detecting }),
    chunks,
    state,
    tries,
    save,
    isRepeated: () => isRepeated,
    onRepeated: () => void (isRepeated = true),
    requireOwned: async () => {
      if (sinceRecorded() >= logBatch.ownedForMs) await recordBatch();
    },
    wantedIn: ({ from, to }) =>
      chunks.slice(from, to).filter((chunk) => !repeated.has(chunk.index) && isWanted(chunk, state)),
    blockName: (block) => blockName(block, state),
    requireUnwritten: (from, cause) => requireUnwritten(chunks.slice(from), { cause, shards, again }),
    refusedEnd: (block) => refusedEnd(state, block),
    refuse(block) {
      const before = new Map(state.refused);
      addRefused(state, block);
      if (fitsState(state)) return;
      state.refused = before;
      excludeFrom(block.from);
    },
    async exclude(index, { reason, tries: tried, unwrittenFrom }) {
      tries.set(index, tried);
      state.excluded.set(index, reason);
      if (!fitsState(state)) excludeFrom(unwrittenFrom);
      await save();
    },
  };
}

function repeatedAmong(chunks: readonly BatchChunk[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const live = chunks.filter(isReadable).filter(({ raw }) => raw.source === "collect");
  const repeated = live.filter(({ raw: { importId } }) => seen.has(importId) || !seen.add(importId));
  return new Set(repeated.map(({ index }) => index));
}

function isWanted(chunk: BatchChunk, { excluded, skippedImports }: BatchState): boolean {
  if (excluded.has(chunk.index)) return false;
  return !isReadable(chunk) || !skippedImports.includes(chunk.raw.importId);
}

/** Part of a token: a batch that was cut short is completed under the same one, also by a later version. */
function blockName({ name, from, to }: Block, state: BatchState): string {
  const excluded = [...state.excluded.keys()].filter((index) => index >= from && index < to);
  return excluded.length === 0 ? name : `${name}-without-${formatRanges(excluded)}`;
}

async function requireUnwritten(
  chunks: readonly BatchChunk[],
  { cause, shards, again }: { cause: unknown } & Pick<OpenBatchDependencies, "shards" | "again">,
): Promise<void> {
  const raws = chunks.filter(isReadable).map(({ raw }) => raw);
  const written = await again("checking for existing rows", () => hasRows(shards, raws));
  if (written)
    throw new Error("a block cannot be written again because at least a part of it is stored", { cause });
}

/**
 * Milliseconds, also of the time in which the process or machine stands still: the monotonic clock goes on
 * while a process is stopped, the wall clock is set right after a machine was.
 */
function startStopwatch(): () => number {
  const monotonic = performance.now();
  const wall = Date.now();
  return () => Math.max(performance.now() - monotonic, Math.abs(Date.now() - wall));
}
