import type { Pool } from "pg";
import type { QueryResultRow } from "pg";
import { v7 as uuidv7 } from "uuid";
import { inTransaction } from "../postgres/connection.js";
import { query } from "../postgres/query.js";

/** The tables of one kind of item. All texts are SQL of ours. */
export interface Queue {
  /** What waits, such as deliveries: `id`, `state`, `attempts`, `claim`, `next_attempt_at` and the column `target`. */
  items: string;
  target: string;
  /** Where items go, such as webhooks: `id`, `owner_id`, `enabled`, `failing_since`. */
  targets: string;
  /** Further columns of a claimed item, of the item `d`, the target `t`, `clock.now` and the tables of `joins`. */
  columns: string;
  joins: string;
  /** The state of an item that arrived. */
  arrived: string;
  /** An item that arrived is not sent again, even if another claim has replaced the one of the attempt. */
  acceptsLate: boolean;
  /** The column for the error of the last attempt, if items have one. */
  error?: string;
}

/** An item that one worker has until its lease ends. */
export interface Claimed {
  id: string;
  /** The id of this claim. An outcome counts only while no other claim has replaced it. */
  claim: string;
  attempts: number;
  targetId: string;
  isFailing: boolean;
}

export interface ClaimLimits {
  slots: number;
  /** The part of `slots` for failing targets, so that they delay only each other. */
  failingSlots: number;
  /** The limit of concurrent attempts for one target, in all processes together. A failing target gets one. */
  perTarget: number;
  /** As `perTarget`, for all targets of one owner. An account and the organizations that it made are one owner. */
  perOwner: number;
}

export interface ClaimOptions extends ClaimLimits {
  /** The result of `servedLast` for the call before: targets after these come first. */
  after?: ServedLast | undefined;
  leaseMs: number;
  /** Replaces the database's clock, for tests. */
  now?: Date | undefined;
}

/** Among the failing ones and among the others: each group is served in rotation. */
export interface ServedLast {
  failing?: string | undefined;
  others?: string | undefined;
}

export function servedLast(
  claimed: readonly Pick<Claimed, "targetId" | "isFailing">[],
  before: ServedLast = {},
): ServedLast {
  const last = (isFailing: boolean) => claimed.findLast((item) => item.isFailing === isFailing)?.targetId;
  return { failing: last(true) ?? before.failing, others: last(false) ?? before.others };
}

/**
 * Claims items that are due. The owner with the fewest attempts under way is next, and among its targets the one with
 * the fewest; equals are served in rotation. Holds no transaction while requests are sent: the claim of a worker that
 * died ends with its lease, and another worker takes the item. Claims are serialised among processes, for milliseconds
 * each, so that `perTarget` and `perOwner` hold for all of them together.
 */
export async function claimItems<Item extends Claimed>(
  pg: Pool,
  queue: Queue,
  { slots, failingSlots, perTarget, perOwner, after, leaseMs, now }: ClaimOptions,
): Promise<Item[]> {
  const [row] = await query<{ pending: boolean }>(pg, anyPending(queue));
  if (row?.pending !== true) return [];
  const claim = uuidv7();
  const limits = [slots, failingSlots, perTarget, perOwner];
  const values = [now ?? null, ...limits, after?.others ?? null, claim, leaseMs, after?.failing ?? null];
  const rows = await inTransaction(pg, async (client) => {
    await query(client, TAKE_TURN, [queue.items]);
    return query<QueryResultRow>(client, claimText(queue), values);
  });
  return rows.map((row) => ({ ...row, claim }) as unknown as Item);
}

/** Without an item to send, a look costs this one statement. */
const anyPending = ({ items }: Queue) =>
  `select exists (select from ${items} where state = 'pending') as pending`;

/** A process that freezes while it holds the lock loses it with its session. */
const TAKE_TURN = `
  select set_config('idle_in_transaction_session_timeout', '10s', true),
    pg_advisory_xact_lock(hashtextextended('claims of ' || $1::text, 0))`;

/** `queued` jumps by the index, and owners without room are left out: a dead receiver's thousands cost as one. */
const claimText = ({ items, target, targets, columns, joins }: Queue) => `
  with recursive clock as materialized (select coalesce($1::timestamptz, clock_timestamp()) as now),
  queued as (
    (select d.${target} as id from ${items} d where d.state = 'pending' order by d.${target} limit 1)
    union all
    select (
      select d.${target} from ${items} d
      where d.state = 'pending' and d.${target} > q.id order by d.${target} limit 1
    ) from queued q where q.id is not null
  ),
  busy as materialized (
    select t.id, coalesce(o.made_by, t.owner_id) as owner_id, count(*)::int as under_way
    from ${items} d join ${targets} t on t.id = d.${target} left join organizations o on o.id = t.owner_id cross join clock
    where d.state = 'pending' and d.claim is not null and d.next_attempt_at > clock.now
    group by 1, 2
  ),
  busy_owners as materialized (
    select owner_id, sum(under_way)::int as under_way from busy group by owner_id
  ),
  served as (
    select t.id, owner.id as owner_id, t.failing_since is not null as failing, coalesce(b.under_way, 0) as under_way,
      coalesce(bo.under_way, 0) as under_way_of_owner,
      case when t.failing_since is not null then 1 else $4::int end - coalesce(b.under_way, 0) as room
    from queued q join ${targets} t on t.id = q.id and t.enabled left join organizations o on o.id = t.owner_id
    cross join lateral (select coalesce(o.made_by, t.owner_id) as id) owner
    left join busy b on b.id = t.id left join busy_owners bo on bo.owner_id = owner.id
    where coalesce(bo.under_way, 0) < $5::int
  ),
  due as (
    select d.id, s.id as target_id, s.owner_id, s.failing, s.under_way_of_owner,
      s.under_way + row_number() over (partition by s.id order by d.next_attempt_at) as turn,
      coalesce(s.id <= case when s.failing then $9::uuid else $6::uuid end, false) as served_before
    from served s cross join clock cross join lateral (
      select d.id, d.next_attempt_at from ${items} d
      where d.${target} = s.id and d.state = 'pending' and d.next_attempt_at <= clock.now
      order by d.next_attempt_at limit greatest(s.room, 0)
    ) d
  ),
  ordered as (
    select *,
      under_way_of_owner + row_number() over (partition by owner_id order by turn, served_before, target_id) as place
    from due
  ),
  grouped as (
    select *, row_number() over (partition by failing order by place, served_before, target_id) as place_in_group
    from ordered where place <= $5::int
  ),
  chosen as (
    select id, row_number() over (order by place, served_before, target_id) as nth from grouped
    where not failing or place_in_group <= $3::int
    order by nth limit $2::int
  ),
  locked as (
    select d.id, chosen.nth from chosen join ${items} d on d.id = chosen.id
    where d.state = 'pending' for update of d skip locked
  ),
  claimed as (
    update ${items} d
    set claim = $7::uuid, next_attempt_at = clock.now + $8::float8 * interval '1 millisecond'
    from locked, clock where d.id = locked.id
    returning d.*, locked.nth
  )
  select d.id, d.attempts, d.${target} as "targetId", t.failing_since is not null as "isFailing", ${columns}
  from claimed d join ${targets} t on t.id = d.${target} ${joins} cross join clock
  order by d.nth`;

/** Extends the leases of items that are still being sent. A claim that another one has replaced stays replaced. */
export async function renewLeases(
  pg: Pool,
  { items }: Queue,
  { claimed, leaseMs, now }: { claimed: readonly Pick<Claimed, "id" | "claim">[] } & Lease,
): Promise<void> {
  const text = `
    update ${items} d
    set next_attempt_at = coalesce($3::timestamptz, clock_timestamp()) + $4::float8 * interval '1 millisecond'
    from unnest($1::uuid[], $2::uuid[]) as c (id, claim)
    where d.id = c.id and d.claim = c.claim and d.state = 'pending'`;
  const [ids, claims] = [claimed.map(({ id }) => id), claimed.map(({ claim }) => claim)];
  await query(pg, text, [ids, claims, now ?? null, leaseMs]);
}

type Lease = Pick<ClaimOptions, "leaseMs" | "now">;
