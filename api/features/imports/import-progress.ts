import type { Pool } from "pg";
import type { ChunkOutcome, DeadLetterEntry } from "../../../schemas/records/chunk-outcome.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query, updateInBatches } from "../../base/postgres/query.js";

interface ProgressOptions {
  /** Called with an outcome whose samples PostgreSQL rejects. Its counts are stored. */
  onRefused?: (outcome: ChunkOutcome, error: unknown) => void;
}

/** Also those that were removed with their owner. */
export async function abortedAmong(pg: Postgres, importIds: readonly string[]): Promise<string[]> {
  const text = `
    select id from imports where id = any($1::uuid[]) and status = 'aborted'
    union all select id from removed_imports where id = any($1::uuid[])`;
  const rows = await query<{ id: string }>(pg, text, [importIds]);
  return rows.map(({ id }) => id);
}

export async function putChunks(
  pg: Pool,
  outcomes: readonly ChunkOutcome[],
  options: ProgressOptions = {},
): Promise<DeadLetterEntry[]> {
  const inserted = await insertChunks(pg, outcomes, options);
  if (inserted === outcomes.length) return [];
  const processed = outcomes.filter(({ deadLetter }) => deadLetter === undefined);
  await settleOnceMore(pg, processed);
  return deadLettersAmong(pg, processed);
}

/** Stored again without its samples: its counts matter more, and it must not delay the others. */
async function insertChunks(
  pg: Postgres,
  outcomes: readonly ChunkOutcome[],
  options: ProgressOptions,
): Promise<number> {
  try {
    const [row] = await query<{ inserted: number }>(pg, INSERT_CHUNKS, [asJson(outcomes)]);
    return row?.inserted ?? 0;
  } catch (error) {
    const [only] = outcomes;
    if (!isDataException(error) || only === undefined) throw error;
    if (outcomes.length === 1) {
      if (only.errors.length + only.warnings.length === 0) throw error;
      options.onRefused?.(only, error);
      return insertChunks(pg, [{ ...only, errors: [], warnings: [] }], options);
    }
    let inserted = 0;
    for (const outcome of outcomes) inserted += await insertChunks(pg, [outcome], options);
    return inserted;
  }
}

/** SQLSTATE class 22, data exception: the same data is rejected every time. */
function isDataException(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^22...$/.test(code);
}

const REPORTED = `
  select * from json_to_recordset($1::json) as r (
    import_id uuid, sequence integer, receipt_stamp bigint, total integer, imported integer, failed integer,
    warned integer, skipped integer, errors jsonb, warnings jsonb, dead_letter_lines integer)`;

/** Counts only new chunks, so that a replay changes nothing. Locks imports in the order of their ids. */
const INSERT_CHUNKS = `
  with reported as (${REPORTED}
  ), locked as (
    select id from imports where id in (select import_id from reported) order by id for update
  ), written as (
    insert into import_chunks (import_id, sequence, receipt_stamp, events, errors, warnings, dead_letter_lines)
    select import_id, sequence, receipt_stamp, imported, errors, warnings, dead_letter_lines from reported
    where import_id in (select id from locked)
    on conflict do nothing returning import_id, sequence
  ), counted as (
    update imports i set chunks_written = i.chunks_written + c.chunks, events_total = i.events_total + c.total,
      events_imported = i.events_imported + c.imported, events_failed = i.events_failed + c.failed,
      events_warned = i.events_warned + c.warned, lines_skipped = i.lines_skipped + c.skipped, updated_at = now()
    from (
      select import_id, count(*) as chunks, sum(total) as total, sum(imported) as imported, sum(failed) as failed,
        sum(warned) as warned, sum(skipped) as skipped
      from reported join written using (import_id, sequence) group by import_id
    ) c
    where i.id = c.import_id
  )
  select count(*)::int as inserted from written`;

/** A chunk is reported again after a crash or a repeated retry. Settlement then makes its events count once. */
async function settleOnceMore(pg: Pool, outcomes: readonly ChunkOutcome[]): Promise<void> {
  await onLockedImports(
    pg,
    outcomes,
    `with reported as (${REPORTED}
     ), before as (
       select import_id, sequence, settled from import_chunks where dead_letter_lines is null
     ), unsettled as (
       update import_chunks c set settled = false, reports = c.reports + 1
       from reported r join before b using (import_id, sequence)
       where c.import_id = r.import_id and c.sequence = r.sequence
       returning c.import_id, b.settled
     )
     update imports i set chunks_settled = i.chunks_settled - c.settled
     from (
       select import_id, count(*) filter (where settled) as settled from unsettled group by import_id
     ) c
     where i.id = c.import_id`,
  );
}

/** A dead letter's entry is the first of its sample. */
async function deadLettersAmong(pg: Postgres, outcomes: readonly ChunkOutcome[]): Promise<DeadLetterEntry[]> {
  const text = `
    select c.import_id as "importId", coalesce((c.errors->0->>'line')::float8, 0) as line
    from import_chunks c join (${REPORTED}) r using (import_id, sequence)
    where c.dead_letter_lines is not null`;
  return query<DeadLetterEntry>(pg, text, [asJson(outcomes)]);
}

/** An import that is done stays done; settlement processes the chunk nevertheless. */
export async function replaceDeadLetters(pg: Pool, outcomes: readonly ChunkOutcome[]): Promise<void> {
  await onLockedImports(
    pg,
    outcomes.filter(({ deadLetter }) => deadLetter === undefined),
    `with reported as (${REPORTED}
     ), before as (
       select import_id, sequence, dead_letter_lines, settled from import_chunks where dead_letter_lines is not null
     ), replaced as (
       update import_chunks c set events = r.imported, errors = r.errors, warnings = r.warnings,
         dead_letter_lines = null, settled = false, reports = c.reports + 1
       from reported r join before b using (import_id, sequence)
       where c.import_id = r.import_id and c.sequence = r.sequence and c.dead_letter_lines is not null
       returning c.import_id, b.dead_letter_lines, b.settled, r.total, r.imported, r.failed, r.warned, r.skipped
     )
     update imports i set events_total = i.events_total + c.total - c.dead_letter_lines,
       events_imported = i.events_imported + c.imported, events_failed = i.events_failed + c.failed - c.dead_letter_lines,
       events_warned = i.events_warned + c.warned, lines_skipped = i.lines_skipped + c.skipped, chunks_settled = i.chunks_settled - c.settled, updated_at = now()
     from (
       select import_id, sum(total) as total, sum(imported) as imported, sum(failed) as failed,
         sum(warned) as warned, sum(skipped) as skipped, sum(dead_letter_lines) as dead_letter_lines, count(*) filter (where settled) as settled
       from replaced group by import_id
     ) c
     where i.id = c.import_id`,
  );
}

/** A separate statement after the lock: it must see settlements that were committed while it waited. */
async function onLockedImports(pg: Pool, outcomes: readonly ChunkOutcome[], text: string): Promise<void> {
  if (outcomes.length === 0) return;
  const importIds = [...new Set(outcomes.map(({ importId }) => importId))];
  await inTransaction(pg, async (client) => {
    await query(client, "select 1 from imports where id = any($1::uuid[]) order by id for update", [
      importIds,
    ]);
    await query(client, text, [asJson(outcomes)]);
  });
}

function asJson(outcomes: readonly ChunkOutcome[]): string {
  return JSON.stringify(outcomes.map(chunkRow));
}

function chunkRow(outcome: ChunkOutcome): Record<string, unknown> {
  return {
    import_id: outcome.importId,
    sequence: outcome.sequence,
    receipt_stamp: outcome.receiptStamp,
    total: outcome.eventsTotal,
    imported: outcome.eventsImported,
    failed: outcome.eventsFailed,
    warned: outcome.eventsWithWarnings,
    skipped: outcome.linesSkipped,
    errors: outcome.errors.length > 0 ? outcome.errors : null,
    warnings: outcome.warnings.length > 0 ? outcome.warnings : null,
    dead_letter_lines: outcome.deadLetter === true ? outcome.eventsFailed : null,
  };
}

/** SQL: what forgets the samples of a chunk. The counts of its import stay. */
const EMPTY = "errors = null, warnings = null";

/** SQL: whether a chunk has samples. The entry of a dead letter stays: an operator decides about its lines. */
const HAS_SAMPLES = "dead_letter_lines is null and (errors is not null or warnings is not null)";

/** Forgets the samples of these imports' logs (UUIDs). */
export async function emptySamples(pg: Postgres, imports: readonly string[]): Promise<void> {
  const text = `update import_chunks set ${EMPTY} where import_id = any($1::uuid[]) and ${HAS_SAMPLES}`;
  await query(pg, text, [imports]);
}

/** Forgets the samples of chunks received more than so many days ago: log entries have the same age. Answers of how many. */
export function emptyOldSamples(pg: Postgres, days: number): Promise<number> {
  const where = `${HAS_SAMPLES}
    and t.receipt_stamp < extract(epoch from now() - make_interval(days => $1)) * 1000`;
  return updateInBatches(pg, { table: "import_chunks", set: EMPTY, where, values: [days] });
}
