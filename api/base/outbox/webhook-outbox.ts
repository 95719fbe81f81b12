import { v7 as uuidv7 } from "uuid";
import type { WebhookEventData, WebhookEventKind } from "../../../schemas/contracts/webhook-event.js";
import { type Postgres, query } from "../postgres/query.js";

export interface NewWebhookEvent<Kind extends WebhookEventKind = WebhookEventKind> {
  ownerId: string;
  type: Kind;
  data: WebhookEventData[Kind];
  createdAt: Date;
}

/**
 * Puts an event into the outbox, with one delivery for each enabled webhook of the owner that subscribes to its kind,
 * and answers the event's id. `client` must be that of the change's transaction, so that both are stored or neither is.
 * Workers poll for deliveries.
 */
export async function enqueueWebhookEvent<Kind extends WebhookEventKind>(
  client: Postgres,
  event: NewWebhookEvent<Kind>,
): Promise<string> {
  const { ownerId, type, createdAt } = event;
  const id = uuidv7();
  const body = await makeBody(client, { id, event });
  const text =
    "insert into webhook_events (id, owner_id, type, body, created_at) values ($1, $2, $3, $4, $5)";
  await query(client, text, [id, ownerId, type, body, createdAt]);
  await insertDeliveries(client, { id, event });
  return id;
}

interface Identified {
  id: string;
  event: NewWebhookEvent;
}

async function makeBody(client: Postgres, { id, event }: Identified): Promise<Buffer> {
  const { ownerId, type, data, createdAt } = event;
  const [owner] = await query<{ name: string }>(client, "select name from owners where id = $1", [ownerId]);
  if (owner === undefined) throw new Error(`there is no owner ${ownerId}`);
  return webhookBody({ id, owner: owner.name, type, data, createdAt });
}

export function webhookBody({
  id,
  owner,
  type,
  data,
  createdAt,
}: Omit<NewWebhookEvent, "ownerId" | "data"> & { id: string; owner: string; data: object }): Buffer {
  const microseconds = createdAt.toISOString().replace("Z", "000Z");
  return Buffer.from(JSON.stringify({ id, type, owner, created_at: microseconds, data }));
}

/** Locked only against deletion: a worker may record outcomes of the webhook meanwhile. */
async function insertDeliveries(client: Postgres, { id, event }: Identified): Promise<void> {
  const subscribed = `
    select id from webhooks where owner_id = $1 and enabled and $2 = any (event_kinds) order by id for key share`;
  const webhooks = await query<{ id: string }>(client, subscribed, [event.ownerId, event.type]);
  if (webhooks.length === 0) return;
  const text = `
    insert into webhook_deliveries (id, event_id, webhook_id)
    select d.id, $1, d.webhook_id from unnest($2::uuid[], $3::uuid[]) as d (id, webhook_id)`;
  await query(client, text, [id, webhooks.map(() => uuidv7()), webhooks.map((webhook) => webhook.id)]);
}
