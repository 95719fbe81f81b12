import type { ChunkOutcome, ImportProgress } from "../../schemas/records/chunk-outcome.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import type { DeadLetter, DeadLetterStore } from "../../schemas/records/dead-letter.js";
import { deleteDeadLetterEntries, hasRows } from "./chunk-rows.js";
import type { ThreadMutex } from "./thread-mutex.js";
import { insertLog } from "./insert-rows.js";
import { openRange, type OpenRange } from "./open-range.js";
import { fitsNote, formatRanges, excludeSpan, newNote, resumeNote, type RangeNote } from "./range-note.js";
import { isReadable, readRecords, type BatchRecord } from "./read-records.js";
import { deadLetterOf, type ReportedLetter } from "./dead-letters.js";
import { writeBlocks, type BlockWriter } from "./write-blocks.js";

export interface BatchWriter extends BlockWriter {
  progress: ImportProgress;
  deadLetters: DeadLetterStore;
  /** The range that is written now, for whoever has to wait for a store in the middle of it. */
  inHand: { range?: OpenRange };
  mutex: ThreadMutex;
  /** Once aborted, the batch in hand is the last. */
  stopping: AbortSignal;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  /** Called once for each new dead letter. */
  onDeadLetter?: (letter: DeadLetter) => void;
}

/**
 * Writes a batch: its range is recorded, its chunks become inserts into `events` and `import_log` under the range's
 * token, then progress goes to PostgreSQL, then the batch is committed. Cut short anywhere, the same range is formed
 * again and written under the same tokens, of which ClickHouse keeps one copy. A chunk that cannot be written
 * becomes a dead letter, and the rest of the batch goes on without it.
 */
export async function writeBatch(batch: LogBatch, writer: BatchWriter): Promise<void> {
  const range = await beginRange(batch, writer);
  const outcomes = await writeBlocks(range, { ...writer, token: batch.token });
  const letters = lettersOf(range, batch);
  await logLetters(letters, { range, batch, writer });
  passFaultPoint("after-insert");
  outcomes.push(...letters.flatMap(({ outcome }) => outcome ?? []));
  const imported = outcomes.filter(({ live }) => live === undefined);
  if (imported.length > 0) await report(imported, writer);
  if (letters.length > 0) await storeLetters(letters, writer);
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
  excludeUnreadable(note, records);
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

function lettersOf({ records, note, tries }: OpenRange, { token, partition }: LogBatch): ReportedLetter[] {
  const log = token.slice(0, token.lastIndexOf(":"));
  return records.flatMap((record) => {
    const reason = note.excluded.get(record.index);
    if (reason === undefined) return [];
    const logPosition = `${log}:${record.offset}`;
    const tried = tries.get(record.index) ?? note.attempts;
    return deadLetterOf(record, { logPosition, partition, reason: reason || REASON_LOST, tries: tried });
  });
}

const REASON_LOST = "the reason was not kept when the program ended in the middle of its range";

interface Logging {
  range: OpenRange;
  batch: LogBatch;
  writer: BatchWriter;
}

/** One entry for each, in the log of its import. */
async function logLetters(
  letters: readonly ReportedLetter[],
  { range, batch, writer }: Logging,
): Promise<void> {
  const { logs } = writer;
  for (const { logged } of letters) if (logged !== undefined) logs.add(logged);
  // The words of a token stay as they are: a range that an earlier version began is completed under the same one.
  const token = `${batch.token}#aside-${formatRanges([...range.note.excluded.keys()])}:log`;
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
  await again("taking log entries back", () => deleteDeadLetterEntries(clickhouse, entries));
  await again("writing progress", () => progress.replaceDeadLetters(outcomes));
}

/** Only after their outcomes: an operator's retry must not overtake the report of the failure. */
async function storeLetters(
  letters: readonly ReportedLetter[],
  { deadLetters, again, onDeadLetter }: BatchWriter,
): Promise<void> {
  for (const { letter } of letters) {
    const ids = await again("storing a dead letter", () => deadLetters.put([letter]));
    if (ids.length > 0) onDeadLetter?.(letter);
  }
}
