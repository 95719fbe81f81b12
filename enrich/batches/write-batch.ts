import type { ChunkOutcome, DeadLetter } from "../../schemas/records/chunk-outcome.js";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import type { Shard } from "../../schemas/shards.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { beginRange, type RangeBeginner, type OpenRange } from "./begin-batch.js";
import { deleteDeadLetterEntries } from "./chunk-rows.js";
import { deadLetterOf, type ReportedLetter } from "./dead-letters.js";
import { insertLog } from "./insert-block.js";
import { planBlocks, writeBlock, type BlockWriter } from "./write-block.js";
import { formatRanges } from "./batch-state.js";

export interface BatchWriter
  extends
    RangeBeginner,
    Omit<BlockWriter, "range" | "plan" | "token" | "lookups" | "shard" | "requireOwned"> {
  /** Called once a batch: all of it is enriched with the same tables. */
  lookups: () => Lookups;
  /** Stores a new dead letter and answers its id. One that was retried or dropped is not new. */
  putDeadLetter: (letter: DeadLetter) => Promise<number | undefined>;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  /** Called once for each new dead letter. */
  onDeadLetter?: (letter: DeadLetter) => void;
}

/**
 * Writes a batch: its range is recorded, its chunks become inserts into `events` and `import_log` under the range's
 * token, then progress goes to PostgreSQL, then the batch is committed. Cut short anywhere, the same range is formed
 * again and written under the same tokens, and ClickHouse keeps one copy of each. A chunk that cannot be written
 * becomes a dead letter, and the rest of the batch goes on without it.
 */
export async function writeBatch(batch: LogBatch, writer: BatchWriter): Promise<void> {
  const range = await beginRange(batch, writer);
  const plan = planBlocks(range.records.length, (block) => range.refusedEnd(block));
  const shard = await shardOf(range, writer);
  const inserter = { ...writer, shard, requireOwned: () => range.requireOwned() };
  const blockWriter = { ...inserter, lookups: writer.lookups(), range, plan, token: batch.token };
  const outcomes: ChunkOutcome[] = [];
  for (let block = plan.next(); block !== undefined; block = plan.next())
    outcomes.push(...(await writeBlock(block, blockWriter)));
  const letters = lettersOf(range, batch);
  await logLetters(letters, { range, batch, writer: inserter });
  passFaultPoint("after-insert");
  outcomes.push(...letters.flatMap(({ outcome }) => outcome ?? []));
  await report(outcomes, writer);
  await storeLetters(letters, writer);
  passFaultPoint("after-progress");
  await writer.again("committing the batch", () => batch.commit());
  writer.onOutcomes?.(outcomes);
}

/** Each attempt writes to the same shard: another one does not know the tokens of this range. */
function shardOf({ note }: OpenRange, { again, shards }: BatchWriter): Promise<Shard> {
  return again("finding the shard of a range", async () => shards.named(note.shard));
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

const REASON_LOST = "the reason was lost when the program ended in the middle of its range";

interface Logging {
  range: OpenRange;
  batch: LogBatch;
  writer: BatchWriter & Pick<BlockWriter, "shard" | "requireOwned">;
}

/** One entry for each, in the log of its import. */
async function logLetters(
  letters: readonly ReportedLetter[],
  { range, batch, writer }: Logging,
): Promise<void> {
  const { logs } = writer;
  for (const { logged } of letters) if (logged !== undefined) logs.add(logged);
  const token = `${batch.token}#dead-letters-${formatRanges([...range.note.excluded.keys()])}:log`;
  await insertLog(logs, { ...writer, token });
  logs.clear();
}

/**
 * Reports outcomes of imports. A dead letter that is imported now has its log entry deleted before the new outcome
 * counts: cut short in between, both are done again.
 */
async function report(
  outcomes: readonly ChunkOutcome[],
  { progress, shards, again }: BatchWriter,
): Promise<void> {
  const imported = outcomes.filter(({ live }) => live === undefined);
  if (imported.length === 0) return;
  const entries = await again("writing progress", () => progress.putChunks(imported));
  if (entries.length === 0) return;
  await again("deleting log entries", () => deleteDeadLetterEntries(shards, entries));
  await again("writing progress", () => progress.replaceDeadLetters(imported));
}

/** Only after their outcomes: an operator's retry must not overtake the report of the failure. */
async function storeLetters(
  letters: readonly ReportedLetter[],
  { putDeadLetter, again, onDeadLetter }: BatchWriter,
): Promise<void> {
  for (const { letter } of letters) {
    const id = await again("storing a dead letter", () => putDeadLetter(letter));
    if (id !== undefined) onDeadLetter?.(letter);
  }
}
