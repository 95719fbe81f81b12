import type { Shards } from "../../schemas/shards.js";
import type { ChunkOutcome, DeadLetterEntry } from "../../schemas/records/chunk-outcome.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { hasRows } from "./chunk-rows.js";
import { openRange, type OpenRange } from "./open-range.js";
import { excludeSpan, fitsNote, newNote, resumeNote, type RangeNote } from "./range-note.js";
import { isReadable, readRecords, type BatchRecord } from "./read-records.js";
import type { Again } from "./retry-while-down.js";
import type { ThreadMutex } from "./thread-mutex.js";

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
