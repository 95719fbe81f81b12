import type { Pool } from "pg";
import { SMALL_IMPORT_CHUNKS } from "../../../schemas/records/import-line.js";
import type {
  DueImport,
  OwnerSettlement,
  SliceLimits,
  WrittenChunk,
} from "../../../schemas/records/settlement.js";
import { onConnection } from "../../base/postgres/connection.js";
import { insertLock } from "../../base/postgres/insert-lock.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { withPg } from "../../base/postgres/with-pg.js";
import { finishComplete } from "./import-endings.js";

export async function dueImports(pg: Postgres): Promise<DueImport[]> {
  const text = `
    select id, owner_id as "ownerId", retracted,
      status = 'aborted' or coalesce(chunks_written = chunks_total, false) as complete,
      exists (
        select from imports other
        where other.owner_id = i.owner_id and other.status = 'importing'
          and other.chunks_written < other.chunks_total and other.chunks_total <= ${SMALL_IMPORT_CHUNKS}
      ) as followed
    from imports i
    where chunks_settled < chunks_written or (status = 'importing' and chunks_written = chunks_total)
    order by id`;
  return query<DueImport>(pg, text);
}

/** The lock and all writes under it use one connection: losing the connection ends both. */
export async function asOnlySettlement(
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
    ...insertLock(client),
    ...withPg(client, { closeBatch, unsettledChunks, markSettled, finishComplete }),
  };
}

async function stagedBatches(pg: Postgres, ownerId: string): Promise<string[]> {
  const text = "select batch from settlements where owner_id = $1 order by created_at, batch";
  return (await query<{ batch: string }>(pg, text, [ownerId])).map(({ batch }) => batch);
}

/** The oldest of any owner that is left, and its age; undefined without one. */
export async function oldestStagedBatch(pg: Postgres): Promise<StagedBatch | undefined> {
  const text = `
    select batch, extract(epoch from now() - settlements.created_at)::float8 as "ageSeconds"
    from settlements join owners on owners.id = owner_id
    order by settlements.created_at limit 1`;
  const [oldest] = await query<StagedBatch>(pg, text);
  return oldest;
}

export interface StagedBatch {
  batch: string;
  ageSeconds: number;
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

async function unsettledChunks(
  pg: Postgres,
  importIds: readonly string[],
  { eventsMax, chunksMax }: SliceLimits,
): Promise<WrittenChunk[]> {
  const text = `
    select import_id as "importId", sequence, reports, receipt_stamp::float8 as stamp, events
    from (
      select c.*, nth, sum(events) over (order by nth, receipt_stamp, sequence) as running
      from unnest($1::uuid[]) with ordinality as asked (import_id, nth)
      join import_chunks c using (import_id)
      where not c.settled
      order by nth, receipt_stamp, sequence limit $3
    ) chunks
    where running - events < $2
    order by nth, receipt_stamp, sequence`;
  return query<WrittenChunk>(pg, text, [importIds, eventsMax, chunksMax]);
}

/** Locks the imports in the order of their ids, as every statement on several imports does. */
async function markSettled(
  pg: Postgres,
  imports: readonly Pick<DueImport, "id" | "retracted">[],
  chunks: readonly WrittenChunk[],
): Promise<string[]> {
  const text = `
    with due as (
      select * from unnest($1::uuid[], $2::boolean[]) as due (id, retracted)
    ), locked as (
      select i.id from imports i where (i.id, i.retracted) in (select id, retracted from due) order by i.id for update
    ), marked as (
      update import_chunks c set settled = true
      from unnest($3::uuid[], $4::int[], $5::int[]) as seen (import_id, sequence, reports)
      where c.import_id in (select id from locked) and c.import_id = seen.import_id
        and c.sequence = seen.sequence and c.reports = seen.reports and not c.settled
      returning c.import_id
    )
    update imports i
    set chunks_settled = i.chunks_settled + (select count(*) from marked where import_id = i.id), updated_at = now()
    where i.id in (select id from locked) returning i.id`;
  const rows = await query<{ id: string }>(pg, text, [
    imports.map(({ id }) => id),
    imports.map(({ retracted }) => retracted),
    chunks.map(({ importId }) => importId),
    chunks.map(({ sequence }) => sequence),
    chunks.map(({ reports }) => reports),
  ]);
  return rows.map(({ id }) => id);
}
