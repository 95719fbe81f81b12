import type { ChunkOutcome, ImportProgress } from "../../schemas/records/chunk-outcome.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import type { ParkedChunk, ParkedChunks } from "../../schemas/records/dead-letter.js";
import { forgetSetAside, hasRows } from "./chunk-rows.js";
import type { HoldTurn } from "./thread-mutex.js";
import { insertLog } from "./insert-rows.js";
import { openRange, type OpenRange } from "./open-range.js";
import { fitsNote, formatRanges, leaveOutSpan, newNote, resumeNote, type RangeNote } from "./range-note.js";
import { isReadable, readRecords, type BatchRecord } from "./read-records.js";
import { setAside, type SetAside } from "./dead-letters.js";
import { writeBlocks, type BlockWriter } from "./write-blocks.js";

export interface BatchWriter extends BlockWriter {
  progress: ImportProgress;
  parked: ParkedChunks;
  /** The range that is written now, for whoever has to wait for a store in the middle of it. */
  inHand: { range?: OpenRange };
  turn: HoldTurn;
  /** Once aborted, the batch in hand is the last. */
  stopping: AbortSignal;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  /** Told of chunks that were set aside, each once. */
  onParked?: (chunk: ParkedChunk) => void;
}

/**
 * Writes a batch: its range is recorded, its chunks become inserts into `events` and `import_log` under the range's
 * token, then progress goes to PostgreSQL, then the batch is committed. Cut short anywhere, the same range is formed
 * again and written under the same tokens, of which ClickHouse keeps one copy. A chunk that cannot be written is
 * parked, and the rest of the batch goes on without it.
 */
export async function writeBatch(batch: LogBatch, writer: BatchWriter): Promise<void> {
  const range = await beginRange(batch, writer);
  const outcomes = await writeBlocks(range, { ...writer, token: batch.token });
  const aside = asideOf(range, batch);
  await tellSetAside(aside, { range, batch, writer });
  passFaultPoint("after-insert");
  outcomes.push(...aside.flatMap(({ outcome }) => outcome ?? []));
  const imported = outcomes.filter(({ live }) => live === undefined);
  if (imported.length > 0) await report(imported, writer);
  if (aside.length > 0) await park(aside, writer);
  passFaultPoint("after-progress");
  await writer.again("committing the batch", () => batch.commit());
  writer.onOutcomes?.(outcomes);
}

async function beginRange(batch: LogBatch, writer: BatchWriter): Promise<OpenRange> {
  const records = readRecords(batch);
  const note =
    batch.recordedNote === undefined
      ? await firstNote(records, writer)
      : // A range that was recorded leaves out what it left out before: its tokens stand for exactly those rows.
        resumeNote(batch.recordedNote);
  const range = openRange(batch, records, { ...writer, note });
  writer.inHand.range = range;
  passFaultPoint("before-range");
  await range.save();
  passFaultPoint("after-range");
  return range;
}

/** What cannot be read is left out from the beginning: nothing of this range was ever sent. */
async function firstNote(records: readonly BatchRecord[], writer: BatchWriter): Promise<RangeNote> {
  const { again, progress } = writer;
  const readable = records.filter(isReadable).filter(({ chunk }) => chunk.source === "import");
  const importIds = [...new Set(readable.map(({ chunk }) => chunk.importId))];
  const aborted = await again("asking for aborted imports", () => progress.abortedAmong(importIds));
  const note = newNote([...(await storedBefore(records, writer)), ...aborted]);
  leaveOutUnreadable(note, records);
  return note;
}

/**
 * Chunks of live events that come a second time: the log took the first one and could not say so. That stood before it
 * in the same partition, so it is either stored by now or in this very batch, where `repeatedAmong` finds it.
 */
async function storedBefore(
  records: readonly BatchRecord[],
  { again, clickhouse }: BatchWriter,
): Promise<string[]> {
  const found: string[] = [];
  for (const { chunk } of records.filter(isReadable)) {
    if (chunk.source !== "collect" || chunk.sequence === 0 || found.includes(chunk.importId)) continue;
    if (await again("looking for rows", () => hasRows(clickhouse, [chunk]))) found.push(chunk.importId);
  }
  return found;
}

/** Where they are too many and too scattered to be noted, only the first ones are, and everything behind them. */
function leaveOutUnreadable(note: RangeNote, records: readonly BatchRecord[]): void {
  const reasons = records.flatMap((record): [number, string][] =>
    isReadable(record) ? [] : [[record.index, record.unreadable]],
  );
  let noted = reasons.length;
  note.leftOut = new Map(reasons);
  while (noted > 0 && !fitsNote(note)) {
    noted = Math.floor(noted / 2);
    note.leftOut = new Map(reasons.slice(0, noted));
  }
  const [from] = reasons[noted] ?? [records.length];
  leaveOutSpan(note, { from, to: records.length });
  for (const [index, reason] of reasons) note.leftOut.set(index, reason);
}

function asideOf({ records, note, tries }: OpenRange, { token, partition }: LogBatch): SetAside[] {
  const log = token.slice(0, token.lastIndexOf(":"));
  return records.flatMap((record) => {
    const reason = note.leftOut.get(record.index);
    if (reason === undefined) return [];
    const place = `${log}:${record.offset}`;
    const tried = tries.get(record.index) ?? note.begun;
    return setAside(record, { place, partition, reason: reason || REASON_LOST, tries: tried });
  });
}

const REASON_LOST = "the reason was not kept when the program ended in the middle of its range";

interface Telling {
  range: OpenRange;
  batch: LogBatch;
  writer: BatchWriter;
}

/** One entry for each, in the log of its import. */
async function tellSetAside(aside: readonly SetAside[], { range, batch, writer }: Telling): Promise<void> {
  const { logs } = writer;
  for (const { logged } of aside) if (logged !== undefined) logs.add(logged);
  const token = `${batch.token}#aside-${formatRanges([...range.note.leftOut.keys()])}:log`;
  await insertLog(logs, { ...writer, token });
  logs.clear();
}

/** An entry is taken back before the outcome that supersedes it counts: cut short in between, both come again. */
async function report(
  outcomes: readonly ChunkOutcome[],
  { progress, clickhouse, again }: BatchWriter,
): Promise<void> {
  const entries = await again("writing progress", () => progress.putChunks(outcomes));
  if (entries.length === 0) return;
  await again("taking log entries back", () => forgetSetAside(clickhouse, entries));
  await again("writing progress", () => progress.replaceSetAside(outcomes));
}

/** Only after their outcomes: an operator who tries one again must not overtake the news of its failure. */
async function park(aside: readonly SetAside[], { parked, again, onParked }: BatchWriter): Promise<void> {
  for (const { parked: chunk } of aside) {
    const ids = await again("parking a chunk", () => parked.park([chunk]));
    if (ids.length > 0) onParked?.(chunk);
  }
}
