import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { createSealer } from "../../../api/base/identity/tokens.js";
import type { AnyData } from "../../../api/features/notifications/messages.js";
import { insertNotification, newNotificationId } from "../../../api/features/notifications/notifications.js";
import type { NotificationChannel } from "../../../schemas/contracts/notification.js";
import type { NotificationEvent } from "../../../schemas/contracts/notification-event.js";
import { mailboxKey } from "../../../schemas/mailbox.js";
import { SECRET_KEY } from "../api/management-api.js";
import { DIGEST } from "./hostile-data.js";

export const TARGETS = createSealer(SECRET_KEY, "notification-target");

/** An organization, made by this account if one is given. */
export async function putOwner(pg: Pool, madeBy?: string): Promise<string> {
  const id = randomUUID();
  const owner = "insert into owners (id, kind, name) values ($1, 'organization', $2)";
  await pg.query(owner, [id, `o${id}`]);
  const organization =
    "insert into organizations (id, description, billing_email, made_by) values ($1, '', 'a@example.org', $2)";
  await pg.query(organization, [id, madeBy ?? null]);
  return id;
}

export async function putAccount(pg: Pool, email?: string): Promise<string> {
  const id = randomUUID();
  await pg.query("insert into owners (id, kind, name) values ($1, 'user', $2)", [id, `u${id}`]);
  const account =
    "insert into accounts (id, email, token_hash, token_ciphertext) values ($1, $2, $3, 'none')";
  await pg.query(account, [id, email ?? `${id}@example.org`, Buffer.from(id)]);
  return id;
}

/** The account of this address, which is made if there is none, becomes a member. */
async function putMember(pg: Pool, { ownerId, email }: { ownerId: string; email: string }): Promise<void> {
  const { rows } = await pg.query<{ id: string }>("select id from accounts where email = $1", [email]);
  const account = rows[0]?.id ?? (await putAccount(pg, email));
  const text = `
    insert into memberships (organization_id, account_id, role) select id, $2, 'member' from organizations where id = $1
    on conflict do nothing`;
  await pg.query(text, [ownerId, account]);
}

interface Put {
  ownerId: string;
  channel?: NotificationChannel;
  target: string;
  event?: NotificationEvent;
}

/** A notification; its id. The receiver of a mail is a member of the organization. */
export async function putNotification(
  pg: Pool,
  { ownerId, channel = "email", target, event = "weekly-digest" }: Put,
): Promise<string> {
  const id = newNotificationId();
  const told = { event, packageId: null, thresholdPercent: null };
  const mailbox = channel === "email" ? mailboxKey(target) : null;
  const by = { channel, targetShown: target, mailbox, savedBy: null, enabled: true };
  if (channel === "email") await putMember(pg, { ownerId, email: target });
  await insertNotification(pg, { id, ownerId, ...told, ...by, target: TARGETS.seal(target, id) });
  return id;
}

/** Messages as planning writes them down. */
export async function putMessages(
  pg: Pool,
  notificationId: string,
  count: number,
  data: AnyData = DIGEST,
): Promise<void> {
  const text = `
    insert into notification_messages
      (id, owner_id, notification_id, event, period, state, data, complete_through)
    select gen_random_uuid(), owner_id, id, event, nth, 'pending', $2, now()
    from notifications, generate_series(1, $3) nth where id = $1`;
  await pg.query(text, [notificationId, JSON.stringify(data), count]);
}
