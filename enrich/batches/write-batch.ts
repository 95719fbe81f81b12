import type { ChunkOutcome, DeadLetter } from "../../schemas/records/chunk-outcome.js";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { LogBatch } from "../../schemas/records/event-log.js";
import type { Shard } from "../../schemas/shards.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { isSameStart, syncSince } from "../../schemas/sync-since.js";
import { beginBatch, type BatchBeginner, type OpenBatch } from "./begin-batch.js";
import { deleteDeadLetterEntries, deleteRows } from "./chunk-rows.js";
import { deadLetterOf, type ReportedDeadLetter } from "./dead-letters.js";
import { insertLog } from "./insert-block.js";
import { queueBlocks, writeBlock, type BlockWriter } from "./write-block.js";
import { formatRanges, isReadable } from "./batch-state.js";

export interface BatchWriter
  extends BatchBeginner, Omit<BlockWriter, "batch" | "blocks" | "token" | "lookups" | keyof BatchInserter> {
  /** Called once a batch: all of it is enriched with the same tables. */
  lookups: () => Lookups;
  /** Stores a new dead letter and answers its id. One that was retried or dropped is not new. */
  putDeadLetter: (deadLetter: DeadLetter) => Promise<number | undefined>;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  /** Called once for each new dead letter. */
  onDeadLetter?: (deadLetter: DeadLetter) => void;
}

/**
 * Writes a batch: it is recorded as begun, its chunks become inserts into `events` and `import_log` under the batch's
 * token, then progress goes to PostgreSQL, then the batch is committed. Cut short anywhere, the same batch is formed
 * again and written under the same tokens, and ClickHouse keeps one copy of each. A chunk that cannot be written
 * becomes a dead letter, and the rest of the batch goes on without it.
 */
export async function writeBatch(logBatch: LogBatch, writer: BatchWriter): Promise<void> {
  const lookups = writer.lookups();
  const basis = await basisOf(lookups, writer);
  const batch = await beginBatch(logBatch, { ...writer, basis });
  const shard = await shardOf(batch, writer);
  const writing = { batch, logBatch, lookups, shard, writer };
  if (batch.isRepeated()) await renewIfRestarted(writing);
  let written = await writeRows(writing);
  while (await renewIfRestarted(writing)) written = await writeRows(writing);
  const { outcomes, deadLetters } = written;
  passFaultPoint("after-sync");
  await report(outcomes, writer);
  await storeDeadLetters(deadLetters, writer);
  passFaultPoint("after-progress");
  await writer.again("committing the batch", () => logBatch.commit());
  writer.onOutcomes?.(outcomes);
}

interface Writing {
  batch: OpenBatch;
  logBatch: LogBatch;
  lookups: Lookups;
  shard: Shard;
  writer: BatchWriter;
}

/** Resolves when the rows are synced. */
async function writeRows({ batch, logBatch, lookups, shard, writer }: Writing) {
  const { renewals, basis } = batch.state;
  const blocks = queueBlocks(batch.chunks.length, (block) => batch.refusedEnd(block));
  const inserter = { ...writer, ...inserterOf(batch, { shard, writer }) };
  const token = renewals === 0 ? logBatch.token : `${logBatch.token}!${renewals}`;
  const blockWriter = { ...inserter, lookups, batch, blocks, token };
  const outcomes: ChunkOutcome[] = [];
  for (let block = blocks.next(); block !== undefined; block = blocks.next())
    outcomes.push(...(await writeBlock(block, blockWriter)));
  const deadLetters = deadLettersOf(batch, logBatch);
  await logDeadLetters(deadLetters, { batch, token, writer: inserter });
  passFaultPoint("after-insert");
  outcomes.push(...deadLetters.flatMap(({ outcome }) => outcome ?? []));
  if (renewals > 0 || (batch.isRepeated() && basis !== (await basisOf(lookups, writer))))
    await recountBatch(batch, { shard, writer });
  if (outcomes.length > 0) await writer.again("syncing ClickHouse", () => shard.sync());
  return { outcomes, deadLetters };
}

/**
 * Rows that were sent before a start of the server may be there, or their tokens, or both, or neither. So they are
 * deleted, to be written under other tokens, and their views recounted.
 * @returns whether the server started since the rows were sent
 */
async function renewIfRestarted({ batch, shard, writer }: Writing): Promise<boolean> {
  const { state, chunks } = batch;
  const serverStart = await writer.again("reading ClickHouse's start time", () => shard.startedAt());
  if (isSameStart(serverStart, state.serverStart)) return false;
  const raws = chunks.filter(isReadable).map(({ raw }) => raw);
  await writer.again("deleting rows of a batch that was interrupted by a restart", () =>
    writer.recounts.whileInserting(() => deleteRows(shard, raws)),
  );
  Object.assign(state, { serverStart, renewals: state.renewals + 1 });
  await batch.save();
  return true;
}

/** Each attempt writes to the same shard: another one does not know the tokens of this batch. */
function shardOf({ state }: OpenBatch, { again, shards }: BatchWriter): Promise<Shard> {
  return again("finding the shard of a batch", async () => shards.named(state.shard));
}

/** The inserter of this batch, as part of its writer. */
type BatchInserter = Pick<BlockWriter, "shard" | "requireOwned" | "whileInserting" | "onRepeated">;

interface Inserting {
  shard: Shard;
  writer: Pick<BatchWriter, "recounts" | "again">;
}

function inserterOf(batch: OpenBatch, { shard, writer }: Inserting): BatchInserter {
  const { whileInserting } = writer.recounts;
  return {
    shard,
    whileInserting,
    requireOwned: () => batch.requireOwned(),
    onRepeated: () => batch.onRepeated(),
  };
}

async function basisOf(lookups: Lookups, { again, recounts }: Inserting["writer"]): Promise<string> {
  return `${lookups.id} ${await again("reading the latest recount", () => recounts.latest())}`;
}

/**
 * An insert that was cut short has rows in some tables, and the next try completes the others. With other lookup tables
 * these get other values; after a recount they had what was missing already.
 */
async function recountBatch({ chunks }: OpenBatch, { shard, writer }: Inserting): Promise<void> {
  const stamps = [...new Set(chunks.filter(isReadable).map(({ raw }) => raw.receiptStamp))];
  for (let from = 0; from < stamps.length; from += STAMPS_MAX) {
    const some = stamps.slice(from, from + STAMPS_MAX);
    await writer.again("recounting", () => writer.recounts.recount(shard, some));
  }
}

/** They are a parameter, and part of the URL of a request. */
const STAMPS_MAX = 1_000;

function deadLettersOf(
  { chunks, state, tries }: OpenBatch,
  { token, partition }: LogBatch,
): ReportedDeadLetter[] {
  const log = token.slice(0, token.lastIndexOf(":"));
  return chunks.flatMap((chunk) => {
    const reason = state.excluded.get(chunk.index);
    if (reason === undefined) return [];
    const logPosition = `${log}:${chunk.offset}`;
    const tried = tries.get(chunk.index) ?? state.attempts;
    return deadLetterOf(chunk, { logPosition, partition, reason: reason || REASON_LOST, tries: tried });
  });
}

const REASON_LOST = "the reason is unknown because the program stopped while processing the batch";

interface Logging {
  batch: OpenBatch;
  /** Of the batch. */
  token: string;
  writer: BatchWriter & BatchInserter;
}

/** One entry for each, in the log of its import. */
async function logDeadLetters(
  deadLetters: readonly ReportedDeadLetter[],
  { batch, token: batchToken, writer }: Logging,
): Promise<void> {
  const { logs } = writer;
  for (const { logged } of deadLetters) if (logged !== undefined) logs.add(logged);
  const token = `${batchToken}#dead-letters-${formatRanges([...batch.state.excluded.keys()])}:log`;
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
  await again("deleting log entries", async () => {
    const start = await shards.startedAt();
    await deleteDeadLetterEntries(shards, entries);
    await syncSince(shards, start);
  });
  await again("writing progress", () => progress.replaceDeadLetters(imported));
}

/** Only after their outcomes: an operator's retry must not overtake the report of the failure. */
async function storeDeadLetters(
  deadLetters: readonly ReportedDeadLetter[],
  { putDeadLetter, again, onDeadLetter }: BatchWriter,
): Promise<void> {
  for (const { deadLetter } of deadLetters) {
    const id = await again("storing a dead letter", () => putDeadLetter(deadLetter));
    if (id !== undefined) onDeadLetter?.(deadLetter);
    passFaultPoint("dead-letter-stored");
  }
}
