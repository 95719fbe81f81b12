import type { Pool } from "pg";
import type { SourceKind } from "../../../schemas/contracts/source.js";
import { insertReleases } from "../packages/annotations/annotations.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import type { Count, Counter, Published } from "./registries/registry.js";
import { isPaused } from "./registry-turns.js";

/** A source that one process has until its lease ends. */
export interface ClaimedSource {
  id: string;
  /** The owner itself, or the account that made the organization. */
  accountId: string;
  kind: SourceKind;
  name: string;
  etag: string | null;
  /** Runs that failed in a row. */
  failures: number;
  lastDate: string | null;
}

const LEASE = "interval '10 minutes'";

const IS_PAUSED = `exists (select from registries r where r.kind = s.kind and ${isPaused("r")})`;

/** The kinds that have a source to run, and whose registry may be asked. */
export async function dueKinds(pg: Postgres): Promise<SourceKind[]> {
  const text = `select distinct kind from sources s where next_run_at <= clock_timestamp() and not ${IS_PAUSED}`;
  return (await query<{ kind: SourceKind }>(pg, text)).map(({ kind }) => kind);
}

/**
 * A source of this kind that is due: of the account after `after`, so that accounts take turns, the one that waits
 * longest. If its process dies, it is due again when the lease ends.
 */
export async function claimSource(
  pg: Postgres,
  { kind, after }: { kind: SourceKind; after?: string | undefined },
): Promise<ClaimedSource | undefined> {
  const [row] = await query<ClaimedSource>(pg, CLAIM, [kind, after ?? null]);
  return row;
}

/** Jumps from owner to owner by the index: thousands of due sources of one cost as one. */
const CLAIM = `
  with recursive queued as (
    (select owner_id from sources where kind = $1 and next_run_at is not null order by owner_id limit 1)
    union all
    select (
      select s.owner_id from sources s
      where s.kind = $1 and s.next_run_at is not null and s.owner_id > q.owner_id order by s.owner_id limit 1
    ) from queued q where q.owner_id is not null
  ),
  heads as (
    select s.id, s.next_run_at, coalesce(o.made_by, q.owner_id) as account_id
    from queued q left join organizations o on o.id = q.owner_id cross join lateral (
      select s.id, s.next_run_at from sources s
      where s.kind = $1 and s.owner_id = q.owner_id and s.next_run_at <= clock_timestamp() and not ${IS_PAUSED}
      order by s.next_run_at limit 1
    ) s
  ),
  next as (
    select id, account_id from heads
    order by coalesce(account_id <= $2::uuid, false), account_id, next_run_at limit 1
  ),
  locked as (
    select s.id, next.account_id from next join sources s on s.id = next.id
    where s.next_run_at <= clock_timestamp() for update of s skip locked
  )
  update sources s set last_run_at = clock_timestamp(), next_run_at = clock_timestamp() + ${LEASE}
  from locked where s.id = locked.id
  returning s.id, s.kind, s.name, s.etag, s.failures, locked.account_id as "accountId",
    (select max(date)::text from reported_counts c where c.source_id = s.id) as "lastDate"`;

export interface RunOutcome {
  source: ClaimedSource;
  nextRunAt: Date;
}

/** A source that was changed, disabled or deleted meanwhile stays as it is. */
export async function putFailure(
  pg: Postgres,
  { source, nextRunAt, sentence }: RunOutcome & { sentence: string },
): Promise<void> {
  const text = `update sources set last_error = $4, failures = failures + 1, next_run_at = $5 where ${IS_STILL}`;
  await query(pg, text, [source.id, source.kind, source.name, sentence, nextRunAt]);
}

const IS_STILL = "id = $1 and kind = $2 and name = $3 and enabled";

export interface SuccessfulRun extends RunOutcome {
  /** The date of counters. */
  today: string;
  /** How many annotations an owner may have, releases included. */
  annotationsMax: number;
  counted:
    | {
        counts: readonly Count[];
        counters: readonly Counter[];
        releases: readonly Published[];
        etag?: string;
      }
    | "unchanged";
}

/** Everything or nothing. The same counts again change nothing. */
export async function putSuccess(pg: Pool, run: SuccessfulRun): Promise<void> {
  const { source, nextRunAt, today, counted, annotationsMax } = run;
  await inTransaction(pg, async (client) => {
    const text = `
      update sources set last_success_at = clock_timestamp(), last_error = null, failures = 0, next_run_at = $4,
        etag = coalesce($5, etag)
      where ${IS_STILL} returning id`;
    const etag = counted === "unchanged" ? null : (counted.etag ?? null);
    const found = await query(client, text, [source.id, source.kind, source.name, nextRunAt, etag]);
    if (found.length === 0) return;
    if (counted === "unchanged") await query(client, KEEP_COUNTERS, [source.id, today]);
    else {
      await putCounts(client, source.id, counted.counts);
      await putCounters(client, { sourceId: source.id, today, counters: counted.counters });
      await insertReleases(client, { source, releases: counted.releases, annotationsMax });
    }
    await query(client, COUNT_DAY, [source.id, today]);
  });
}

async function putCounts(pg: Postgres, sourceId: string, counts: readonly Count[]): Promise<void> {
  const columns = [
    counts.map(({ date }) => date),
    counts.map(({ version = "" }) => version),
    counts.map(({ metric }) => metric),
    counts.map(({ value }) => value),
  ];
  await query(pg, CORRECT_COUNTS, [sourceId, ...columns]);
}

const PUT_COUNTS = "insert into reported_counts (source_id, date, version, metric, value, first_value)";

/** The first value stays beside the one that took its place. */
const CORRECT_COUNTS = `
  ${PUT_COUNTS}
  select $1, date, version, metric, value, value
  from unnest($2::date[], $3::text[], $4::text[], $5::bigint[]) as c (date, version, metric, value)
  on conflict (source_id, date, version, metric) do update
  set value = excluded.value, fetched_at = now(), changed_at = now()
  where reported_counts.value is distinct from excluded.value`;

async function putCounters(
  pg: Postgres,
  { sourceId, today, counters }: { sourceId: string; today: string; counters: readonly Counter[] },
): Promise<void> {
  await query(pg, PUT_COUNTERS, [
    sourceId,
    today,
    counters.map(({ key }) => key),
    counters.map(({ version = "" }) => version),
    counters.map(({ metric }) => metric),
    counters.map(({ value }) => value),
    counters.map(({ since }) => since ?? null),
  ]);
}

/**
 * `base` is the counter at the end of the last day on which it was read: without it the day has no value. It is 0 for a
 * thing that was made after another reading. A reading that belongs to an earlier day than the last one changes nothing.
 */
const PUT_COUNTERS = `
  insert into source_counters (source_id, key, version, metric, date, value, base)
  select $1, key, version, metric, $2::date, value,
    case when since > (select max(date) from source_counters where source_id = $1) then 0 end
  from unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[]) as c (key, version, metric, value, since)
  on conflict (source_id, key) do update set
    base = case when source_counters.date < excluded.date then source_counters.value else source_counters.base end,
    is_reset = excluded.value < source_counters.value
      or (source_counters.is_reset and source_counters.date = excluded.date),
    date = excluded.date, value = excluded.value, version = excluded.version, metric = excluded.metric
  where source_counters.date <= excluded.date`;

/** The answer of the last day still stands. */
const KEEP_COUNTERS = `
  update source_counters set base = value, is_reset = false, date = $2::date where source_id = $1 and date < $2::date`;

/** Today's differences, by version. A version without downloads has no line: most of them have none on most days. */
const COUNT_DAY = `
  ${PUT_COUNTS}
  select $1, $2::date, version, metric, value, value
  from (
    select version, metric, case when not bool_or(is_reset) then sum(value - base) end as value
    from source_counters where source_id = $1 and date = $2::date and (base is not null or is_reset)
    group by version, metric
  ) counted
  where version = '' or value is distinct from 0
  on conflict (source_id, date, version, metric) do update
  set value = excluded.value, first_value = excluded.value, fetched_at = now()
  where reported_counts.value is distinct from excluded.value`;
