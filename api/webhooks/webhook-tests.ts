import { v7 as uuidv7 } from "uuid";
import type { Exchange } from "../outbound/send-request.js";
import { query, type Postgres } from "../postgres/query.js";
import type { Delivery } from "./webhook-claims.js";

/** A test that was sent, and its outcome. */
export interface WebhookTest {
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
