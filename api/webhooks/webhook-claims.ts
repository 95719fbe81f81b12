import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import { inTransaction } from "../postgres/connection.js";
import { query } from "../postgres/query.js";

export interface Delivery {
  eventId: string;
  webhookId: string;
  url: string;
  body: Buffer;
  /** Sealed for the webhook. */
  secret: Buffer;
  /** Sealed as well; the previous secret, while it is valid. */
  oldSecret: Buffer | null;
}

/** A delivery that one worker has until its lease ends. */
export interface ClaimedDelivery extends Delivery {
  id: string;
  /** The id of this claim. An outcome counts only while no other claim has replaced it. */
  claim: string;
  attempts: number;
  isFailing: boolean;
}

export interface ClaimOptions {
  slots: number;
  /** The part of `slots` for failing webhooks, so that they delay only each other. */
  failingSlots: number;
  /** The limit of concurrent attempts for one webhook, in all processes together. A failing webhook gets one. */
  perWebhook: number;
  /** As `perWebhook`, for all webhooks of one owner, whose receivers may all be slow. */
  perOwner: number;
  /** The result of `servedLast` for the call before: webhooks after these come first. */
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

export function servedLast(claimed: readonly ClaimedDelivery[], before: ServedLast = {}): ServedLast {
  const last = (isFailing: boolean) =>
    claimed.findLast((delivery) => delivery.isFailing === isFailing)?.webhookId;
  return { failing: last(true) ?? before.failing, others: last(false) ?? before.others };
}

/**
 * Claims deliveries that are due, in rotation: one of every webhook, then another one of every webhook, and so on.
 * Holds no transaction while requests are sent: the claim of a worker that died ends with its lease, and another worker
 * delivers. Claims are serialised among processes, for milliseconds each, so that `perWebhook` holds for all of them
 * together.
 */
export async function claimDeliveries(
  pg: Pool,
  { slots, failingSlots, perWebhook, perOwner, after, leaseMs, now }: ClaimOptions,
): Promise<ClaimedDelivery[]> {
  const [row] = await query<{ pending: boolean }>(pg, ANY_PENDING);
  if (row?.pending !== true) return [];
  const claim = uuidv7();
  const limits = [slots, failingSlots, perWebhook, perOwner];
  const values = [now ?? null, ...limits, after?.others ?? null, claim, leaseMs, after?.failing ?? null];
  const rows = await inTransaction(pg, async (client) => {
    await query(client, TAKE_TURN);
    return query<Omit<ClaimedDelivery, "claim">>(client, CLAIM, values);
  });
  return rows.map((row) => ({ ...row, claim }));
}

/** Without a delivery to make, a look costs this one statement. */
const ANY_PENDING = "select exists (select from webhook_deliveries where state = 'pending') as pending";

/** A process that freezes while it holds the lock loses it with its session. */
const TAKE_TURN = `
  select set_config('idle_in_transaction_session_timeout', '10s', true),
    pg_advisory_xact_lock(hashtextextended('webhook claims', 0))`;

/** `queued` jumps by the index and `busy` counts attempts under way: a dead receiver's thousands cost as one. */
const CLAIM = `
  with recursive queued as (
    (select d.webhook_id from webhook_deliveries d where d.state = 'pending' order by d.webhook_id limit 1)
    union all
    select (
      select d.webhook_id from webhook_deliveries d
      where d.state = 'pending' and d.webhook_id > q.webhook_id order by d.webhook_id limit 1
    ) from queued q where q.webhook_id is not null
  ),
  clock as materialized (select coalesce($1::timestamptz, clock_timestamp()) as now),
  busy as (
    select w.id, w.owner_id, w.failing_since is not null as failing, (
      select count(*)::int from webhook_deliveries d
      where d.webhook_id = w.id and d.state = 'pending' and d.claim is not null and d.next_attempt_at > clock.now
    ) as under_way
    from queued q join webhooks w on w.id = q.webhook_id and w.enabled cross join clock
  ),
  served as (
    select id, owner_id, failing, case when failing then 1 else $4::int end - under_way as room,
      $5::int - sum(under_way) over (partition by owner_id) as room_of_owner
    from busy
  ),
  due as (
    select d.id, s.id as webhook_id, s.owner_id, s.failing, s.room_of_owner,
      row_number() over (partition by s.id order by d.next_attempt_at) as turn,
      coalesce(s.id <= case when s.failing then $9::uuid else $6::uuid end, false) as served_before
    from served s cross join clock cross join lateral (
      select d.id, d.next_attempt_at from webhook_deliveries d
      where d.webhook_id = s.id and d.state = 'pending' and d.next_attempt_at <= clock.now
      order by d.next_attempt_at limit greatest(s.room, 0)
    ) d
  ),
  ordered as (
    select *,
      row_number() over (partition by owner_id order by turn, served_before, webhook_id) as place_of_owner,
      row_number() over (partition by failing order by turn, served_before, webhook_id) as place
    from due
  ),
  chosen as (
    select id, row_number() over (order by turn, served_before, webhook_id) as nth from ordered
    where place_of_owner <= room_of_owner and (not failing or place <= $3::int)
    order by nth limit $2::int
  ),
  locked as (
    select d.id, chosen.nth from chosen join webhook_deliveries d on d.id = chosen.id
    where d.state = 'pending' for update of d skip locked
  ),
  claimed as (
    update webhook_deliveries d
    set claim = $7::uuid, next_attempt_at = clock.now + $8::float8 * interval '1 millisecond'
    from locked, clock where d.id = locked.id
    returning d.id, d.webhook_id, d.event_id, d.attempts, locked.nth
  )
  select c.id, c.attempts, c.event_id as "eventId", c.webhook_id as "webhookId", w.url, e.body, w.secret,
    case when w.old_secret_until > clock.now then w.old_secret end as "oldSecret",
    w.failing_since is not null as "isFailing"
  from claimed c join webhooks w on w.id = c.webhook_id join webhook_events e on e.id = c.event_id cross join clock
  order by c.nth`;
