import type { Claimed, Queue } from "../../base/outbox/claim-items.js";

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
};
