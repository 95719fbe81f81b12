import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import type { Delivery } from "../../webhooks/deliver.js";
import { inTransaction } from "../connection.js";
import { query } from "../query.js";

/** A delivery that a worker has for itself until its lease ends. */
export interface ClaimedDelivery extends Delivery {
  id: string;
  /** Names this claim: what comes of it counts only as long as nobody else has another. */
  claim: string;
  /** That ended before. */
  attempts: number;
  /** Whether the latest attempt for this webhook failed. */
  isFailing: boolean;
}

export interface ClaimOptions {
  /** How many at most. */
  slots: number;
  /** The most of them for failing webhooks: those may delay each other, and no others. */
  failingSlots: number;
  /** How many of one webhook are under way at once, in all processes together; one that is failing gets one. */
  perWebhook: number;
  /** As `perWebhook`, of all webhooks of one owner, whose receivers may all be slow. */
  perOwner: number;
  /** The last ones served, as `servedLast` returned them: the next ones come first. */
  after?: ServedLast | undefined;
  leaseMs: number;
  /** In place of the database's clock, for tests. */
  now?: Date | undefined;
}

/** The webhooks that were served last, of those that are failing and of the others: each take turns of their own. */
export interface ServedLast {
  failing?: string | undefined;
  others?: string | undefined;
}

/** The start of the next turn, after these were claimed. */
export function servedLast(claimed: readonly ClaimedDelivery[], before: ServedLast = {}): ServedLast {
  const last = (isFailing: boolean) =>
    claimed.findLast((delivery) => delivery.isFailing === isFailing)?.webhookId;
  return { failing: last(true) ?? before.failing, others: last(false) ?? before.others };
}

/**
 * Takes deliveries that are due: of every webhook in turn one, then of every one another, and answers them in that order. Nothing of it is open while
 * requests are sent; a claim whose worker dies ends with its lease, and the delivery is made by another. One process
 * claims at a time, for milliseconds, so that all of them together keep to `perWebhook`.
 */
export async function claimDeliveries(
  pg: Pool,
  { slots, failingSlots, perWebhook, perOwner, after, leaseMs, now }: ClaimOptions,
): Promise<ClaimedDelivery[]> {
  const claim = uuidv7();
  const limits = [slots, failingSlots, perWebhook, perOwner];
  const values = [now ?? null, ...limits, after?.others ?? null, claim, leaseMs, after?.failing ?? null];
  const rows = await inTransaction(pg, async (client) => {
    await query(client, TAKE_TURN);
    return query<Omit<ClaimedDelivery, "claim">>(client, CLAIM, values);
  });
  return rows.map((row) => ({ ...row, claim }));
}

/** A process that is frozen in its turn loses it with its session. */
const TAKE_TURN = `
  select set_config('idle_in_transaction_session_timeout', '10s', true),
    pg_advisory_xact_lock(hashtextextended('webhook claims', 0))`;

/**
 * `queued` skips from webhook to webhook in the index, and `busy` counts in one that has only what is under way: a dead
 * receiver's thousands cost what one costs. Only what is chosen is locked.
 */
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
