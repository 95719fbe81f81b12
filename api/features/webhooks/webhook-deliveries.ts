import type { DeliveryState, WebhookDeliveryRecord } from "../../../schemas/contracts/webhook-event.js";
import { withoutNulls } from "../../../schemas/formats.js";
import { type Page, type Postgres, deleteInBatches, query, utc } from "../../base/postgres/query.js";

/** A page ends early once its attempts exceed this many bytes. As JSON, control characters are six times as long. */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024;

export interface ListedDeliveries {
  deliveries: WebhookDeliveryRecord[];
  more: boolean;
}

/** Newest first, with the latest attempts. Ends early at `PAGE_BYTES_MAX` of answers, which are never truncated. */
export async function listWebhookDeliveries(
  pg: Postgres,
  { webhookId, page, state }: { webhookId: string; page: Page; state?: DeliveryState | undefined },
): Promise<ListedDeliveries> {
  const text = `
    with wanted as (
      select d.id, (
        select coalesce(sum(${ATTEMPT_BYTES}), 0)
        from (${LATEST_ATTEMPTS}) a
      ) as bytes
      from webhook_deliveries d
      where d.webhook_id = $1 and ($2::uuid is null or d.id < $2) and ($5::text is null or d.state = $5)
      order by d.id desc limit $3
    ),
    measured as (
      select id, sum(bytes) over (order by id desc) - bytes as bytes_before from wanted
    )
    ${SELECT} join measured m on m.id = d.id
    where m.bytes_before < $4 order by d.id desc`;
  const values = [webhookId, page.after ?? null, page.perPage, PAGE_BYTES_MAX, state ?? null];
  const deliveries = (await query<Row>(pg, text, values)).map(deliveryRecord);
  const last = deliveries.at(-1);
  return {
    deliveries,
    more: last !== undefined && (await isAnyOlder(pg, { webhookId, id: last.id, state })),
  };
}

async function isAnyOlder(
  pg: Postgres,
  { webhookId, id, state }: { webhookId: string; id: string; state: DeliveryState | undefined },
): Promise<boolean> {
  const text = `
    select from webhook_deliveries where webhook_id = $1 and id < $2 and ($3::text is null or state = $3) limit 1`;
  return (await query(pg, text, [webhookId, id, state ?? null])).length > 0;
}

export async function readWebhookDelivery(
  pg: Postgres,
  { webhookId, id }: { webhookId: string; id: string },
): Promise<WebhookDeliveryRecord | undefined> {
  const [row] = await query<Row>(pg, `${SELECT} where d.webhook_id = $1 and d.id = $2`, [webhookId, id]);
  return row && deliveryRecord(row);
}

/** Starts an ended delivery again: the same event, with all its attempts. False if it has not ended. */
export async function restartWebhookDelivery(pg: Postgres, id: string): Promise<boolean> {
  const text = `
    update webhook_deliveries
    set state = 'pending', attempts = 0, next_attempt_at = now(), claim = null, ended_at = null
    where id = $1 and state <> 'pending' returning id`;
  return (await query(pg, text, [id])).length > 0;
}

/** Cancels waiting deliveries. One that is being sent may still arrive. */
export async function cancelWebhookDeliveries(pg: Postgres, webhookIds: readonly string[]): Promise<void> {
  const text = `
    update webhook_deliveries set state = 'cancelled', ended_at = clock_timestamp()
    where webhook_id = any ($1::uuid[]) and state = 'pending'`;
  await query(pg, text, [webhookIds]);
}

export interface WebhookCleanUp {
  deliveries: number;
  attempts: number;
  events: number;
}

/** Also secrets whose rotation has ended, and events of more than a day ago without a delivery. */
export async function deleteOldDeliveries(
  pg: Postgres,
  days: number = DELIVERIES_DAYS,
): Promise<WebhookCleanUp> {
  await query(pg, CANCEL_LATE);
  await query(pg, ERASE_OLD_SECRETS);
  const values = [days];
  const attempts = await deleteInBatches(pg, {
    table: "webhook_attempts",
    where: "t.started_at < now() - make_interval(days => $1)",
    values,
  });
  const deliveries = await deleteInBatches(pg, {
    table: "webhook_deliveries",
    where:
      "t.created_at < now() - make_interval(days => $1) and t.ended_at < now() - make_interval(days => $1)",
    values,
  });
  const events = await deleteInBatches(pg, {
    table: "webhook_events",
    where: `t.created_at < now() - interval '1 day'
      and not exists (select from webhook_deliveries d where d.event_id = t.id)`,
  });
  return { deliveries, attempts, events };
}

export const DELIVERIES_DAYS = 30;

/** Locks webhooks before deliveries, in the order of their ids, as `recordOutcomes` does. */
const CANCEL_LATE = `
  with disabled as materialized (
    select id from webhooks w
    where not enabled and exists (select from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending')
    order by id for no key update
  )
  update webhook_deliveries d set state = 'cancelled', ended_at = clock_timestamp()
  from disabled where d.webhook_id = disabled.id and d.state = 'pending'`;

const ERASE_OLD_SECRETS = `
  update webhooks set old_secret = null, old_secret_until = null where old_secret_until <= clock_timestamp()`;

export interface WebhookBacklog {
  deliveries: number;
  /** How long the first due delivery has been due; 0 if none is. */
  oldestSeconds: number;
}

export async function readWebhookBacklog(pg: Postgres): Promise<WebhookBacklog> {
  const text = `
    select count(*)::float8 as deliveries,
      greatest(0, coalesce(extract(epoch from now() - min(d.next_attempt_at)), 0))::float8 as "oldestSeconds"
    from webhook_deliveries d join webhooks w on w.id = d.webhook_id where d.state = 'pending' and w.enabled`;
  const [row] = await query<WebhookBacklog>(pg, text);
  return row ?? { deliveries: 0, oldestSeconds: 0 };
}

interface Row extends Omit<WebhookDeliveryRecord, "next_attempt_at" | "ended_at" | "attempts"> {
  next_attempt_at: string | null;
  ended_at: string | null;
  attempts: { [key: string]: unknown }[];
}

function deliveryRecord(row: Row): WebhookDeliveryRecord {
  const attempts = row.attempts.map((each) => withoutNulls(each));
  // A status of null means that no answer came.
  const logged = attempts.map((each) => ({ ...each, status: each["status"] ?? null }));
  return withoutNulls<WebhookDeliveryRecord>({
    ...row,
    attempts: logged as unknown as WebhookDeliveryRecord["attempts"],
  });
}

/** After many redeliveries, earlier attempts are of no interest. */
const ATTEMPTS_LISTED_MAX = 20;

const LATEST_ATTEMPTS = `
  select * from webhook_attempts where delivery_id = d.id order by id desc limit ${ATTEMPTS_LISTED_MAX}`;

/** Includes an estimate for the other fields. */
const ATTEMPT_BYTES =
  "octet_length(coalesce(a.error, '')) + octet_length(coalesce(a.response_body, '')) + 100";

const ATTEMPTS = `
  select coalesce(json_agg(json_build_object(
      'started_at', ${utc("a.started_at")}, 'status', a.status, 'duration_ms', a.duration_ms, 'error', a.error,
      'response_body', a.response_body) order by a.id desc), '[]'::json)
  from (${LATEST_ATTEMPTS}) a`;

const SELECT = `
  select d.id, d.event_id, e.type as event_type, d.state, ${utc("d.created_at")} as created_at,
    case when d.state = 'pending' then ${utc("d.next_attempt_at")} end as next_attempt_at,
    ${utc("d.ended_at")} as ended_at, (${ATTEMPTS}) as attempts
  from webhook_deliveries d join webhook_events e on e.id = d.event_id`;
