import type { ChunkOutcome, ImportProgress } from "../../schemas/chunk-outcome.js";
import { query, type Postgres } from "./query.js";

/** How far imports are, by chunk: what enrichment reports. */
export function importProgress(pg: Postgres): ImportProgress {
  return {
    abortedAmong: (importIds) => abortedAmong(pg, importIds),
    putChunks: (outcomes) => putChunks(pg, outcomes),
  };
}

async function abortedAmong(pg: Postgres, importIds: readonly string[]): Promise<string[]> {
  const text = "select id from imports where id = any($1::uuid[]) and status = 'aborted'";
  const rows = await query<{ id: string }>(pg, text, [importIds]);
  return rows.map(({ id }) => id);
}

/**
 * Counts move only with chunks that are new, so that a replay changes nothing. Imports are locked in the order of
 * their ids: two workers that report on the same ones wait for each other instead of blocking each other for good.
 */
async function putChunks(pg: Postgres, outcomes: readonly ChunkOutcome[]): Promise<void> {
  await query(pg, PUT_CHUNKS, [JSON.stringify(outcomes.map(chunkRow))]);
}

const PUT_CHUNKS = `
  with reported as (
    select * from json_to_recordset($1::json) as r (
      import_id uuid, sequence integer, receipt_stamp bigint, total integer, imported integer, failed integer,
      errors jsonb, warnings jsonb)
  ), locked as (
    select id from imports where id in (select import_id from reported) order by id for update
  ), written as (
    insert into import_chunks (import_id, sequence, receipt_stamp, events, errors, warnings)
    select import_id, sequence, receipt_stamp, imported, errors, warnings from reported
    where import_id in (select id from locked)
    on conflict do nothing returning import_id, sequence
  )
  update imports i set chunks_written = i.chunks_written + c.chunks, events_total = i.events_total + c.total,
    events_imported = i.events_imported + c.imported, events_failed = i.events_failed + c.failed, updated_at = now()
  from (
    select import_id, count(*) as chunks, sum(total) as total, sum(imported) as imported, sum(failed) as failed
    from reported join written using (import_id, sequence) group by import_id
  ) c
  where i.id = c.import_id`;

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
  };
}
