import type { Pool } from "pg";
import type {
  ChunkOutcome,
  ImportProgress,
  DeadLetterEntry,
} from "../../../schemas/records/chunk-outcome.js";
import { inTransaction } from "../connection.js";
import { query, type Postgres } from "../query.js";

export interface ProgressOptions {
  /** Told of an outcome whose samples PostgreSQL refuses for what is in them; its counts are kept. */
  onRefused?: (outcome: ChunkOutcome, error: unknown) => void;
}

/** How far imports are, by chunk: what enrichment reports. */
export function importProgress(pg: Pool, options: ProgressOptions = {}): ImportProgress {
  return {
    abortedAmong: (importIds) => abortedAmong(pg, importIds),
    putChunks: (outcomes) => putChunks(pg, outcomes, options),
    replaceDeadLetters: (outcomes) => replaceDeadLetters(pg, outcomes),
  };
}

async function abortedAmong(pg: Postgres, importIds: readonly string[]): Promise<string[]> {
  const text = "select id from imports where id = any($1::uuid[]) and status = 'aborted'";
  const rows = await query<{ id: string }>(pg, text, [importIds]);
  return rows.map(({ id }) => id);
}

async function putChunks(
  pg: Pool,
  outcomes: readonly ChunkOutcome[],
  options: ProgressOptions,
): Promise<DeadLetterEntry[]> {
  const inserted = await insertChunks(pg, outcomes, options);
  if (inserted === outcomes.length) return [];
  const processed = outcomes.filter(({ deadLetter }) => deadLetter === undefined);
  await settleOnceMore(pg, processed);
  return deadLettersAmong(pg, processed);
}

/** One outcome that PostgreSQL cannot store must not hold up the others: its counts are worth more than its samples. */
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

/** SQLSTATE class 22, data exception: the same data is refused each time. */
function isDataException(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^22...$/.test(code);
}

const REPORTED = `
  select * from json_to_recordset($1::json) as r (
    import_id uuid, sequence integer, receipt_stamp bigint, total integer, imported integer, failed integer,
    errors jsonb, warnings jsonb, dead_letter_lines integer)`;

/**
 * Counts move only with chunks that are new, so that a replay changes nothing. Imports are locked in the order of
 * their ids: two workers that report on the same ones wait for each other instead of blocking each other for good.
 */
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
      updated_at = now()
    from (
      select import_id, count(*) as chunks, sum(total) as total, sum(imported) as imported, sum(failed) as failed
      from reported join written using (import_id, sequence) group by import_id
    ) c
    where i.id = c.import_id
  )
  select count(*)::int as inserted from written`;

/**
 * Chunks that come again were written under their old token after a crash, or under another one: when an operator's
 * retry was cut short and repeated. Settlement takes care that their events count once.
 */
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

/** Their entry is the first of their sample. */
async function deadLettersAmong(pg: Postgres, outcomes: readonly ChunkOutcome[]): Promise<DeadLetterEntry[]> {
  const text = `
    select c.import_id as "importId", coalesce((c.errors->0->>'line')::float8, 0) as line
    from import_chunks c join (${REPORTED}) r using (import_id, sequence)
    where c.dead_letter_lines is not null`;
  return query<DeadLetterEntry>(pg, text, [asJson(outcomes)]);
}

/** The import may be done: it stays so, and settlement takes the chunk up all the same. */
async function replaceDeadLetters(pg: Pool, outcomes: readonly ChunkOutcome[]): Promise<void> {
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
       returning c.import_id, b.dead_letter_lines, b.settled, r.total, r.imported, r.failed
     )
     update imports i set events_total = i.events_total + c.total - c.dead_letter_lines,
       events_imported = i.events_imported + c.imported, events_failed = i.events_failed + c.failed - c.dead_letter_lines,
       chunks_settled = i.chunks_settled - c.settled, updated_at = now()
     from (
       select import_id, sum(total) as total, sum(imported) as imported, sum(failed) as failed,
         sum(dead_letter_lines) as dead_letter_lines, count(*) filter (where settled) as settled
       from replaced group by import_id
     ) c
     where i.id = c.import_id`,
  );
}

/** A statement of its own after the lock: it must see what was settled while the lock was waited for. */
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
    errors: outcome.errors.length > 0 ? outcome.errors : null,
    warnings: outcome.warnings.length > 0 ? outcome.warnings : null,
    dead_letter_lines: outcome.deadLetter === true ? outcome.eventsFailed : null,
  };
}
