import type { Pool } from "pg";
import type {
  DueImport,
  OwnerSettlement,
  SettlementStore,
  SliceLimits,
  UnsettledChunks,
} from "../../../schemas/records/settlement.js";
import { onConnection } from "../connection.js";
import { query, type Postgres } from "../query.js";
import { abortAbandonedUploads } from "./uploads.js";

export function settlementStore(pg: Pool): SettlementStore {
  return {
    dueImports: () => dueImports(pg),
    abortAbandonedUploads: () => abortAbandonedUploads(pg),
    asOnlySettlement: (ownerId, work) => asOnlySettlement(pg, ownerId, work),
  };
}

async function dueImports(pg: Postgres): Promise<DueImport[]> {
  const text = `
    select id, owner_id as "ownerId", retracted,
      status = 'aborted' or coalesce(chunks_written = chunks_total, false) as complete
    from imports
    where chunks_settled < chunks_written or (status = 'importing' and chunks_written = chunks_total)
    order by id`;
  return query<DueImport>(pg, text);
}

/** The lock and all writes under it use one connection: losing the connection ends both. */
async function asOnlySettlement(
  pg: Pool,
  ownerId: string,
  work: (owner: OwnerSettlement) => Promise<void>,
): Promise<boolean> {
  return onConnection(pg, async (client) => {
    const text = `select pg_try_advisory_lock(${LOCK_KEY}) as held`;
    const [lock] = await query<{ held: boolean }>(client, text, [ownerId]);
    if (!lock?.held) return false;
    await work(ownerSettlement(client, ownerId));
    await query(client, `select pg_advisory_unlock(${LOCK_KEY})`, [ownerId]);
    return true;
  });
}

const LOCK_KEY = "hashtextextended('settlement of ' || $1::text, 0)";

function ownerSettlement(client: Postgres, ownerId: string): OwnerSettlement {
  return {
    stagedBatches: () => stagedBatches(client, ownerId),
    putStagedBatch: (batch) => putStagedBatch(client, { batch, ownerId }),
    closeBatch: (batch) => closeBatch(client, batch),
    unsettledChunks: (importId, limits) => unsettledChunks(client, importId, limits),
    markSettled: (due, chunks) => markSettled(client, due, chunks),
    finishIfComplete: (importId) => finishIfComplete(client, importId),
  };
}

async function stagedBatches(pg: Postgres, ownerId: string): Promise<string[]> {
  const text = "select batch from settlements where owner_id = $1 order by created_at, batch";
  return (await query<{ batch: string }>(pg, text, [ownerId])).map(({ batch }) => batch);
}

async function putStagedBatch(
  pg: Postgres,
  { batch, ownerId }: { batch: string; ownerId: string },
): Promise<void> {
  await query(pg, "insert into settlements (batch, owner_id) values ($1, $2)", [batch, ownerId]);
}

async function closeBatch(pg: Postgres, batch: string): Promise<void> {
  await query(pg, "delete from settlements where batch = $1", [batch]);
}

/** In order of receipt; at least one chunk. */
async function unsettledChunks(
  pg: Postgres,
  importId: string,
  { eventsMax, chunksMax }: SliceLimits,
): Promise<UnsettledChunks | undefined> {
  const text = `
    select array_agg(sequence order by receipt_stamp) as sequences,
      array_agg(reports order by receipt_stamp) as reports,
      min(receipt_stamp)::float8 as "firstStamp", max(receipt_stamp)::float8 as "lastStamp"
    from (
      select sequence, reports, receipt_stamp, events, sum(events) over (order by receipt_stamp) as running
      from import_chunks where import_id = $1 and not settled
      order by receipt_stamp limit $3
    ) chunks
    where running - events < $2`;
  const [row] = await query<UnsettledChunks | NoChunks>(pg, text, [importId, eventsMax, chunksMax]);
  return row?.sequences ? row : undefined;
}

interface NoChunks {
  sequences: null;
}

async function markSettled(
  pg: Postgres,
  { id, retracted }: Pick<DueImport, "id" | "retracted">,
  { sequences, reports }: UnsettledChunks,
): Promise<boolean> {
  const text = `
    with locked as (
      select id from imports where id = $1 and retracted = $2 for update
    ), marked as (
      update import_chunks c set settled = true
      from unnest($3::int[], $4::int[]) as seen (sequence, reports)
      where c.import_id in (select id from locked) and c.sequence = seen.sequence and c.reports = seen.reports
        and not c.settled
      returning c.sequence
    )
    update imports set chunks_settled = chunks_settled + (select count(*) from marked), updated_at = now()
    where id in (select id from locked) returning id`;
  const rows = await query(pg, text, [id, retracted, sequences, reports]);
  return rows.length > 0;
}

async function finishIfComplete(pg: Postgres, importId: string): Promise<boolean> {
  const text = `
    update imports set status = 'done', updated_at = now()
    where id = $1 and status = 'importing' and chunks_written = chunks_total and chunks_settled = chunks_written
    returning id`;
  return (await query(pg, text, [importId])).length > 0;
}
