import type { Shards } from "../../schemas/shards.js";
import type { ChunkOutcome, DeadLetterEntry } from "../../schemas/records/chunk-outcome.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { hasRows } from "./chunk-rows.js";
import {
  excludeSpan,
  fitsNote,
  newNote,
  resumeNote,
  type RangeNote,
  addRefused,
  formatNote,
  formatRanges,
  refusedEnd,
  isReadable,
  readRecords,
  type BatchRecord,
} from "./batch-state.js";
import type { Again } from "./retry-while-down.js";
import {
  type ThreadMutex,
  openPoisonDetection,
  type DetectionDependencies,
  type PoisonDetection,
} from "./poison-detection.js";
import type { Block, Span } from "./write-block.js";

export interface RangeBeginner {
  /** Statements of api/imports/import-progress.ts. */
  progress: {
    /** The aborted ones among these imports. Their chunks are skipped. */
    abortedAmong(importIds: readonly string[]): Promise<string[]>;
    /**
     * Counts each chunk once, whatever is replayed. Answers the log entries of those chunks that were dead letters
     * before: delete these entries, then call `replaceDeadLetters`.
     */
    putChunks(outcomes: readonly ChunkOutcome[]): Promise<DeadLetterEntry[]>;
    /** Replaces the outcome of each chunk that was a dead letter; changes nothing for other chunks. */
    replaceDeadLetters(outcomes: readonly ChunkOutcome[]): Promise<void>;
  };
  shards: Shards;
  again: Again;
  mutex: ThreadMutex;
  /** Once aborted, the current batch is the last. */
  stopping: AbortSignal;
  /** The range that is being written, for callers that wait for a store in the middle of it. */
  current: { range?: OpenRange };
}

/**
 * Records the range of a batch. A range recorded by an earlier attempt keeps its exclusions, so that its tokens still
 * name the same rows.
 */
export async function beginRange(batch: LogBatch, beginner: RangeBeginner): Promise<OpenRange> {
  const { recordedNote } = batch;
  const records = readRecords(batch);
  const note = recordedNote === undefined ? await firstNote(records, beginner) : resumeNote(recordedNote);
  const range = openRange(batch, records, { ...beginner, note });
  beginner.current.range = range;
  passFaultPoint("before-range");
  await range.save();
  passFaultPoint("after-range");
  return range;
}

/** Unreadable records are excluded from the start: nothing of this range was ever sent. */
async function firstNote(records: readonly BatchRecord[], beginner: RangeBeginner): Promise<RangeNote> {
  const { again, progress, shards } = beginner;
  const imported = records.filter(isReadable).filter(({ chunk }) => chunk.source === "import");
  const importIds = [...new Set(imported.map(({ chunk }) => chunk.importId))];
  const aborted = await again("asking for aborted imports", () => progress.abortedAmong(importIds));
  const { name } = await again("choosing a shard", () => shards.choose());
  const note = newNote([...(await storedBefore(records, beginner)), ...aborted], name);
  excludeUnreadable(note, records);
  return note;
}

/**
 * Live chunks that were appended twice, because the first append succeeded without an answer. The first copy is earlier
 * in this partition: already stored, or in this batch (see `openRange`).
 */
async function storedBefore(
  records: readonly BatchRecord[],
  { again, shards }: RangeBeginner,
): Promise<string[]> {
  const found: string[] = [];
  for (const { chunk } of records.filter(isReadable)) {
    if (chunk.source !== "collect" || chunk.sequence === 0 || found.includes(chunk.importId)) continue;
    if (await again("looking for rows", () => hasRows(shards, [chunk]))) found.push(chunk.importId);
  }
  return found;
}

/** If the note cannot hold them all, it holds the first ones and excludes every record after them. */
function excludeUnreadable(note: RangeNote, records: readonly BatchRecord[]): void {
  const reasons = records.flatMap((record): [number, string][] =>
    isReadable(record) ? [] : [[record.index, record.unreadable]],
  );
  let noted = reasons.length;
  note.excluded = new Map(reasons);
  while (noted > 0 && !fitsNote(note)) {
    noted = Math.floor(noted / 2);
    note.excluded = new Map(reasons.slice(0, noted));
  }
  const [from] = reasons[noted] ?? [records.length];
  excludeSpan(note, { from, to: records.length });
  for (const [index, reason] of reasons) note.excluded.set(index, reason);
}

/** The range of a batch while it is written, with its note. */
export interface OpenRange extends PoisonDetection {
  readonly records: readonly BatchRecord[];
  readonly note: RangeNote;
  /** How often each excluded record was tried. */
  readonly tries: ReadonlyMap<number, number>;
  /** The records of a span that are to be enriched. */
  wantedIn(span: Span): BatchRecord[];
  /** Names a block for its token. The name holds the excluded records, so that a token stands for the same rows. */
  blockName(block: Block): string;
  save(): Promise<void>;
  /**
   * Call right before an insert. Throws BatchLost if another consumer has the range: it may have written and committed it
   * while this process stood still, and ClickHouse knows the tokens of an insert for a limited number of further ones.
   */
  requireOwned(): Promise<void>;
  /** Throws unless nothing is stored of the records from `from` on. */
  requireUnwritten(from: number, cause: unknown): Promise<void>;
  /** The end of a block that was refused at an earlier attempt; undefined for every other. */
  refusedEnd(block: Block): number | undefined;
  /** Notes, without saving yet, that a block is refused. Nothing from its beginning on may be stored. */
  refuse(block: Block): void;
  exclude(index: number, why: Exclusion): Promise<void>;
}

interface Exclusion {
  reason: string;
  tries: number;
  /** Nothing is stored from this index on. */
  unwrittenFrom: number;
}

interface RangeDependencies extends Omit<DetectionDependencies, "save"> {
  shards: Shards;
  again: Again;
}

/** Excludes all records that are not written yet if the note grows too large: an operator can retry them. */
export function openRange(
  batch: LogBatch,
  records: readonly BatchRecord[],
  { note, shards, again, ...detecting }: RangeDependencies,
): OpenRange {
  const tries = new Map<number, number>();
  const repeated = repeatedAmong(records);
  let sinceRecorded = startStopwatch();
  const record = async () => {
    const sinceBegun = startStopwatch();
    await batch.recordRange(formatNote(note));
    sinceRecorded = sinceBegun;
  };
  const save = () => again("recording the range", record);
  const excludeFrom = (from: number) => excludeSpan(note, { from, to: records.length });
  return {
    ...openPoisonDetection({ note, save, ...detecting }),
    records,
    note,
    tries,
    save,
    requireOwned: async () => {
      // Recording fails with BatchLost if another consumer has the range.
      if (sinceRecorded() >= batch.ownedForMs) await record();
    },
    wantedIn: ({ from, to }) =>
      records.slice(from, to).filter((record) => !repeated.has(record.index) && isWanted(record, note)),
    blockName: (block) => blockName(block, note),
    requireUnwritten: (from, cause) => requireUnwritten(records.slice(from), { cause, shards, again }),
    refusedEnd: (block) => refusedEnd(note, block),
    refuse(block) {
      const before = new Map(note.refused);
      addRefused(note, block);
      if (fitsNote(note)) return;
      note.refused = before;
      excludeFrom(block.from);
    },
    async exclude(index, { reason, tries: tried, unwrittenFrom }) {
      tries.set(index, tried);
      note.excluded.set(index, reason);
      if (!fitsNote(note)) excludeFrom(unwrittenFrom);
      await save();
    },
  };
}

/** Indexes of second copies of a live chunk within the range. */
function repeatedAmong(records: readonly BatchRecord[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const live = records.filter(isReadable).filter(({ chunk }) => chunk.source === "collect");
  const repeated = live.filter(({ chunk: { importId } }) => seen.has(importId) || !seen.add(importId));
  return new Set(repeated.map(({ index }) => index));
}

function isWanted(record: BatchRecord, { excluded, skippedImports }: RangeNote): boolean {
  if (excluded.has(record.index)) return false;
  return !isReadable(record) || !skippedImports.includes(record.chunk.importId);
}

/** Part of a token: a range that was cut short is completed under the same one, also by a later version. */
function blockName({ name, from, to }: Block, note: RangeNote): string {
  const excluded = [...note.excluded.keys()].filter((index) => index >= from && index < to);
  return excluded.length === 0 ? name : `${name}-without-${formatRanges(excluded)}`;
}

async function requireUnwritten(
  records: readonly BatchRecord[],
  { cause, shards, again }: { cause: unknown } & Pick<RangeDependencies, "shards" | "again">,
): Promise<void> {
  const chunks = records.filter(isReadable).map(({ chunk }) => chunk);
  const written = await again("looking for rows", () => hasRows(shards, chunks));
  if (written)
    throw new Error("a block that is stored, at least in part, cannot be written again", { cause });
}

/**
 * Measures time, in milliseconds, that also passes while the process or its machine stands still: the monotonic clock goes
 * on while a process is stopped, the wall clock is set right after a machine was.
 */
function startStopwatch(): () => number {
  const monotonic = performance.now();
  const wall = Date.now();
  return () => Math.max(performance.now() - monotonic, Math.abs(Date.now() - wall));
}
