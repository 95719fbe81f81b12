import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import { SERVICE } from "../../../schemas/contracts/audit-entry.js";
import type { Exchange } from "../../base/outbound/send-request.js";
import { insertAuditEntry } from "../../base/access/audit-entries.js";
import type { Claimed, Queue } from "../../base/outbox/claim-items.js";
import { type ItemOutcome, lockTargets, recordItems } from "../../base/outbox/record-items.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { cancelWebhookDeliveries } from "./webhook-deliveries.js";

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

export interface ClaimedDelivery extends Claimed, Delivery {}

export const DELIVERIES: Queue = {
  items: "webhook_deliveries",
  target: "webhook_id",
  targets: "webhooks",
  columns: `
    d.event_id as "eventId", d.webhook_id as "webhookId", t.url, e.body, t.secret,
    case when t.old_secret_until > clock.now then t.old_secret end as "oldSecret"`,
  joins: "join webhook_events e on e.id = d.event_id",
  arrived: "delivered",
  acceptsLate: false,
};

export type Next = { state: "delivered" | "failed" } | { state: "pending"; delayMs: number };

export interface AttemptOutcome {
  delivery: Pick<ClaimedDelivery, "id" | "claim" | "webhookId" | "attempts" | "isFailing">;
  exchange: Exchange;
  next: Next;
  startedAt: Date;
}

export interface DisabledWebhook {
  id: string;
  ownerId: string;
  url: string;
  reason: string;
}

/**
 * Records outcomes of attempts in the log, the deliveries and the webhooks. A delivery that was cancelled meanwhile
 * stays cancelled unless it arrived. Disables webhooks for which nothing arrived for three days, with a failed delivery
 * on each of them, and answers these.
 */
export async function recordOutcomes(
  pg: Pool,
  outcomes: readonly AttemptOutcome[],
  { now }: { now?: Date | undefined } = {},
): Promise<DisabledWebhook[]> {
  const rows = JSON.stringify(outcomes.map(rowOf));
  return inTransaction(pg, async (client) => {
    // Owners are locked before webhooks, webhooks before deliveries, each in one order, so that no two transactions
    // deadlock.
    await query(client, LOCK_OWNERS, [webhooksOf(outcomes.filter(({ next }) => next.state === "failed"))]);
    await lockTargets(client, DELIVERIES, webhooksOf(outcomes));
    await query(client, LOG, [rows]);
    await recordItems(client, DELIVERIES, { outcomes: outcomes.map(itemOutcome), now });
    const changing = outcomes.filter(
      ({ delivery, next }) => delivery.isFailing || next.state !== "delivered",
    );
    if (changing.length === 0) return [];
    await query(client, UPDATE_WEBHOOKS, [JSON.stringify(changing.map(rowOf)), now ?? null]);
    return disableFailing(client, changing, now);
  });
}

function webhooksOf(outcomes: readonly AttemptOutcome[]): string[] {
  return [...new Set(outcomes.map(({ delivery }) => delivery.webhookId))];
}

function itemOutcome({ delivery: item, next }: AttemptOutcome): ItemOutcome {
  return { item, ...next, isAttempt: true };
}

function rowOf({ delivery, exchange, next, startedAt }: AttemptOutcome) {
  return {
    attempt_id: uuidv7(),
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    state: next.state,
    started_at: startedAt,
    duration_ms: exchange.durationMs,
    status: exchange.status,
    error: exchange.error ?? null,
    response_body: exchange.status === null ? null : exchange.responseBody,
  };
}

const OUTCOMES = `jsonb_to_recordset($1::jsonb) as o (
    attempt_id uuid, delivery_id uuid, webhook_id uuid, state text, started_at timestamptz, duration_ms int, status int, error text, response_body text)`;

/** Locks the owners of webhooks that may be disabled, because that adds an entry to the owner's audit log. */
const LOCK_OWNERS = `
  select from owners where id in (select owner_id from webhooks where id = any ($1::uuid[])) order by id for key share`;

/** A delivery may have been deleted with its webhook. */
const LOG = `
  insert into webhook_attempts (id, delivery_id, started_at, duration_ms, status, error, response_body)
  select o.attempt_id, o.delivery_id, o.started_at, o.duration_ms, o.status, o.error, o.response_body
  from ${OUTCOMES} join webhook_deliveries d on d.id = o.delivery_id
  for key share of d`;

const UPDATE_WEBHOOKS = `
  update webhooks w set
    failing_since = case when o.delivered then null else coalesce(w.failing_since, o.now) end,
    failed_days = case
      when o.delivered then 0
      when o.failed and w.failed_on is distinct from o.day then w.failed_days + 1
      when o.failed then greatest(w.failed_days, 1)
      else w.failed_days end,
    failed_on = case when o.failed and not o.delivered then o.day else w.failed_on end
  from (
    select o.webhook_id, bool_or(o.state = 'delivered') as delivered, bool_or(o.state = 'failed') as failed,
      min(clock.now) as now, (min(clock.now) at time zone 'utc')::date as day
    from ${OUTCOMES}, (select coalesce($2::timestamptz, clock_timestamp()) as now) clock group by o.webhook_id
  ) o
  where w.id = o.webhook_id`;

const REASON = "No event could be delivered for three days.";

async function disableFailing(
  client: Postgres,
  outcomes: readonly AttemptOutcome[],
  now: Date | undefined,
): Promise<DisabledWebhook[]> {
  const ended = outcomes.filter(({ next }) => next.state === "failed");
  const text = `
    update webhooks set enabled = false, disabled_reason = $3, updated_at = clock_timestamp()
    where id = any ($1::uuid[]) and enabled and failed_days >= 3
      and failing_since <= coalesce($2::timestamptz, clock_timestamp()) - interval '3 days'
    returning id, owner_id as "ownerId", url, disabled_reason as reason`;
  const values = [ended.map(({ delivery }) => delivery.webhookId), now ?? null, REASON];
  const disabled = await query<DisabledWebhook>(client, text, values);
  await cancelWebhookDeliveries(
    client,
    disabled.map(({ id }) => id),
  );
  for (const { id, ownerId, url, reason } of disabled) {
    const target = { kind: "webhook", id, name: url } as const;
    const changes = { enabled: false, disabled_reason: reason };
    await insertAuditEntry(client, {
      ownerId,
      by: SERVICE,
      action: "webhooks.disable-failing",
      target,
      changes,
    });
  }
  return disabled;
}

interface WebhookTest {
  ownerId: string;
  delivery: Pick<Delivery, "eventId" | "webhookId" | "body">;
  startedAt: Date;
  exchange: Exchange;
  state: "delivered" | "failed";
}

/**
 * Records a test in the delivery log. It is inserted with its outcome, so that no worker sends it as well, and it does
 * not count among the failures that disable a webhook. Nothing is recorded if the webhook was deleted meanwhile.
 */
export async function insertWebhookTest(
  client: Postgres,
  { ownerId, delivery, startedAt, exchange, state }: WebhookTest,
): Promise<void> {
  const { eventId, webhookId, body } = delivery;
  const { status, error, responseBody, durationMs } = exchange;
  await query(client, INSERT, [
    ...[eventId, ownerId, body, webhookId, uuidv7(), state, startedAt, uuidv7()],
    ...[durationMs, status, error ?? null, status === null ? null : responseBody],
  ]);
}

const INSERT = `
  with tested as (
    select id from webhooks where id = $4 for key share
  ), event as (
    insert into webhook_events (id, owner_id, type, body, created_at)
    select $1, $2, 'test', $3, $7::timestamptz from tested returning id
  ), delivery as (
    insert into webhook_deliveries (id, event_id, webhook_id, state, attempts, next_attempt_at, created_at, ended_at)
    select $5, id, $4, $6, 1, $7::timestamptz, $7::timestamptz, clock_timestamp() from event returning id
  )
  insert into webhook_attempts (id, delivery_id, started_at, duration_ms, status, error, response_body)
  select $8, id, $7::timestamptz, $9, $10, $11, $12 from delivery`;
