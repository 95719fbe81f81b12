import type { ErasedNow, ErasureWait, OpenErasure } from "../../../schemas/contracts/erasure.js";
import { LOG_DAYS } from "../../../schemas/records/event-log.js";
import { NIL_UUID } from "../../../schemas/formats.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { IS_UNSETTLED } from "../imports/import-record.js";

/** Decrypts the id of a client for its erasure. */
interface Opener {
  open(ciphertext: Uint8Array, erasure: string): string;
}

const DUE = "finished_at is null and due_at <= now()";

export async function dueOwners(pg: Postgres): Promise<string[]> {
  const text = `select distinct owner_id as id from erasures where ${DUE}`;
  return (await query<{ id: string }>(pg, text)).map(({ id }) => id);
}

export async function dueErasures(pg: Postgres, ownerId: string, sealer: Opener): Promise<OpenErasure[]> {
  const text = `
    select id, kind, client, stamp::float8 as stamp, imports, live_stamp::float8 as "liveStamp",
      log_ends::float8[] as "logEnds", waiting_for as "waitingFor"
    from erasures where owner_id = $1 and ${DUE} order by id`;
  const rows = await query<Omit<OpenErasure, "clientId"> & { client: Buffer }>(pg, text, [ownerId]);
  return rows.map(({ client, ...erasure }) => ({ ...erasure, clientId: sealer.open(client, erasure.id) }));
}

/** SQL: whether the erasure `e` is about the import `i`. */
const IS_BEFORE = "i.owner_id = e.owner_id and (i.last_stamp < e.stamp or i.id = any(e.imports))";

/** SQL: of the dead letters `d`, with their imports `i`, those that an operator has not decided about. */
const LETTERS =
  "select from dead_letters d left join imports i on i.id = d.import_id where d.ended_at is null";

/**
 * What keeps live events of before out of the event log. A collector that found its buffer empty twice since looked once
 * after the erasure was asked for. Live events are of all owners, so a dead letter of them may be anybody's.
 */
export async function liveToCome(pg: Postgres, id: string): Promise<ErasureWait | undefined> {
  const text = `
    with gone as (delete from collectors where seen_at < now() - interval '1 day')
    select case
      when exists (
        select from jsonb_each_text(e.collectors) before join collectors c on c.name = before.key
        where c.flushes < before.value::bigint + 2) then 'live-collection'
      when exists (${LETTERS} and i.id is null) then 'dead-letters'
    end as reason
    from erasures e where id = $1`;
  return (await query<{ reason: ErasureWait | null }>(pg, text, [id]))[0]?.reason ?? undefined;
}

export async function importsToCome(pg: Postgres, id: string): Promise<ErasureWait | undefined> {
  const text = `
    select case
      when exists (select from imports i where ${IS_BEFORE} and ${IS_UNSETTLED}) then 'imports'
      when exists (${LETTERS} and ${IS_BEFORE}) then 'dead-letters'
    end as reason
    from erasures e where id = $1`;
  return (await query<{ reason: ErasureWait | null }>(pg, text, [id]))[0]?.reason ?? undefined;
}

/**
 * The ends of the event log behind the lines of imports that it is about: those of other owners are not waited for. Undefined
 * where the process that received one of them died: it may have lines anywhere.
 */
export async function importEnds(pg: Postgres, id: string): Promise<number[] | undefined> {
  const text = `
    with before as (
      select i.log_ends, i.log_ends is null and i.created_at > e.asked_at - interval '${LOG_DAYS} days' as unknown
      from erasures e join imports i on ${IS_BEFORE}
      where e.id = $1
    )
    select coalesce((select bool_or(unknown) from before), false) as unknown, array(
      select max("end")::float8 from before, unnest(log_ends) with ordinality as ends ("end", partition)
      group by partition order by partition
    ) as ends`;
  const [row] = await query<{ unknown: boolean; ends: number[] }>(pg, text, [id]);
  return row === undefined || row.unknown ? undefined : row.ends;
}

export async function artifactsOf(pg: Postgres, ownerId: string): Promise<string[]> {
  const text = `
    select id from packages where owner_id = $1 union all select id from pixels where owner_id = $1`;
  return (await query<{ id: string }>(pg, text, [ownerId])).map(({ id }) => id);
}

export async function importsWithRefusedLines(
  pg: Postgres,
  id: string,
  { after = NIL_UUID, limit }: { after: string | undefined; limit: number },
): Promise<string[]> {
  const text = `
    select i.id from erasures e join imports i on ${IS_BEFORE}
    where e.id = $1 and i.events_failed > 0 and i.id > $2 order by i.id limit $3`;
  return (await query<{ id: string }>(pg, text, [id, after, limit])).map((row) => row.id);
}

export async function putFound(pg: Postgres, id: string, { events, lines }: ErasedNow): Promise<void> {
  const text = `
    update erasures set events = $2, lines = lines + $3, rounds = rounds + 1,
      due_at = now() + make_interval(secs => least(600, 2 ^ least(rounds, 10)))
    where id = $1`;
  await query(pg, text, [id, events, lines]);
}

/** What it waits for may append lines: their end is not known before. */
export async function putWaiting(pg: Postgres, id: string, reason: ErasureWait): Promise<void> {
  const text = `
    update erasures set rounds = 0, waiting_for = $2, due_at = now() + interval '1 second',
      log_ends = case when $2 = 'event-log' then log_ends end
    where id = $1`;
  await query(pg, text, [id, reason]);
}

export async function putLogEnds(pg: Postgres, id: string, ends: readonly number[]): Promise<void> {
  await query(pg, "update erasures set log_ends = $2::bigint[] where id = $1", [id, ends]);
}

/** This and the next change nothing if a dead letter was retried since: its lines are behind the ends. */
export async function putLiveStamp(pg: Postgres, id: string, stamp: number): Promise<void> {
  const text = `
    update erasures set live_stamp = greatest(stamp, $2::bigint), log_ends = null, due_at = now()
    where id = $1 and log_ends is not null`;
  await query(pg, text, [id, stamp]);
}

/** Nothing that was received before comes any more: what is there now is all. */
export async function putComplete(pg: Postgres, id: string): Promise<void> {
  const text = `
    update erasures set waiting_for = null, due_at = now() where id = $1 and log_ends is not null`;
  await query(pg, text, [id]);
}

export async function putFinished(pg: Postgres, id: string): Promise<void> {
  await query(pg, "update erasures set client = null, finished_at = now() where id = $1", [id]);
}

/** How old the oldest erasure is that is not done, in seconds; 0 without one. */
export async function oldestErasure(pg: Postgres): Promise<number> {
  const text = `
    select coalesce(max(extract(epoch from now() - asked_at)), 0)::float8 as seconds
    from erasures where finished_at is null`;
  return (await query<{ seconds: number }>(pg, text))[0]?.seconds ?? 0;
}
