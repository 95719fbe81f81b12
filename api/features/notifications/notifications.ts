import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import type { NotificationChannel, NotificationRecord } from "../../../schemas/contracts/notification.js";
import type { NotificationEvent } from "../../../schemas/contracts/notification-event.js";
import { type Nullable, isUuid, withoutNulls } from "../../../schemas/formats.js";
import { type Owner, wholeOwnerFor } from "../../base/access/authorise.js";
import { findById, named, toOwner } from "../../base/http/resource.js";
import type { Call } from "../../base/http/route.js";
import type { Sealer } from "../../base/identity/tokens.js";
import type { AddressGuard } from "../../base/outbound/guard-address.js";
import { type Page, type Postgres, query, readCount, utc } from "../../base/postgres/query.js";
import { AGREEMENT } from "./agreements.js";
import type { SendMail } from "./mail.js";

export interface NotificationDeps {
  pg: Pool;
  guard: AddressGuard;
  /** Its kind is "notification-target". */
  sealer: Sealer;
  /** Undefined where no mail server is configured. */
  sendMail?: SendMail | undefined;
}

/** Where links of messages lead, without a slash at its end. Undefined: messages have no links. */
export type LinkBase = () => string | undefined;

export interface NotificationFields {
  event: NotificationEvent;
  packageId: string | null;
  thresholdPercent: number | null;
  channel: NotificationChannel;
  /** Sealed for the id. */
  target: Buffer;
  targetShown: string;
  /** The result of `mailboxKey`; null for a chat. */
  mailbox: string | null;
  /** The account that saved it last. */
  savedBy: string | null;
  enabled: boolean;
}

export function newNotificationId(): string {
  return uuidv7();
}

/** The owner must be locked, because its notifications are counted. */
export async function insertNotification(
  pg: Postgres,
  { id, ownerId, ...fields }: NotificationFields & { id: string; ownerId: string },
): Promise<void> {
  const text = `
    insert into notifications (id, owner_id, event, package_id, threshold_percent, channel, target, target_shown,
      mailbox, saved_by, enabled)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;
  await query(pg, text, [id, ownerId, ...valuesOf(fields)]);
}

/** One that starts anew tells what happens from then on. */
export async function updateNotification(
  pg: Postgres,
  { id, startsAnew, ...fields }: NotificationFields & { id: string; startsAnew: boolean },
): Promise<void> {
  const text = `
    update notifications set event = $2, package_id = $3, threshold_percent = $4, channel = $5, target = $6,
      target_shown = $7, mailbox = $8, saved_by = $9, enabled = $10, updated_at = clock_timestamp(),
      enabled_at = case when $11 then clock_timestamp() else enabled_at end,
      failing_since = case when $11 then null else failing_since end
    where id = $1`;
  await query(pg, text, [id, ...valuesOf(fields), startsAnew]);
}

function valuesOf(fields: NotificationFields): unknown[] {
  const { event, packageId, thresholdPercent, channel, target, targetShown, mailbox, savedBy, enabled } =
    fields;
  return [event, packageId, thresholdPercent, channel, target, targetShown, mailbox, savedBy, enabled];
}

/** What came of a message that was sent by hand: why it was not taken, or null. */
export async function putSentByHand(pg: Postgres, id: string, error: string | null): Promise<void> {
  const text = `
    update notifications set hand_tried_at = clock_timestamp(), hand_error = $2,
      hand_sent_at = case when $2::text is null then clock_timestamp() else hand_sent_at end
    where id = $1`;
  await query(pg, text, [id, error]);
}

/** Also deletes its messages. */
export async function deleteNotification(pg: Postgres, id: string): Promise<void> {
  await query(pg, "delete from notifications where id = $1", [id]);
}

export function countNotifications(pg: Postgres, ownerId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from notifications where owner_id = $1", [ownerId]);
}

/** Newest first. Returns one more than the page if there is a next page. */
export async function listNotifications(
  pg: Postgres,
  { ownerId, page }: { ownerId: string; page: Page },
): Promise<NotificationRecord[]> {
  const text = `${SELECT} where n.owner_id = $1 and ($2::uuid is null or n.id < $2) order by n.id desc limit $3`;
  const rows = await query<Nullable<NotificationRecord>>(pg, text, [
    ownerId,
    page.after ?? null,
    page.perPage + 1,
  ]);
  return rows.map(withoutNulls<NotificationRecord>);
}

const SELECT = `
  select n.id, o.name as owner, n.event, n.package_id, n.threshold_percent, n.channel, n.target_shown as target, n.enabled,
    r.state = 'confirmed' as confirmed, r.state = 'stopped' as stopped,
    ${utc("n.created_at")} as created_at, ${utc("n.updated_at")} as updated_at,
    ${utc(`greatest(n.hand_sent_at, (
      select max(ended_at) from notification_messages m where m.notification_id = n.id and m.state = 'sent' and m.event <> '${AGREEMENT}'
    ))`)} as last_sent_at,
    case
      when last.state = 'pending' and last.last_error is not null then last.last_error
      when n.hand_tried_at > coalesce(last.tried_at, '-infinity') then n.hand_error
      else last.last_error
    end as last_error
  from notifications n join owners o on o.id = n.owner_id
    left join lateral (select receiver_state(n.owner_id, n.mailbox) as state) r on n.mailbox is not null
    left join lateral (
      select state, last_error, coalesce(ended_at, created_at) as tried_at from notification_messages m
      where m.notification_id = n.id and m.state not in ('nothing', 'gathered') order by m.id desc limit 1
    ) last on true`;

/** What the service itself needs of a notification. */
export interface StoredNotification extends NotificationFields {
  id: string;
  ownerId: string;
  owner: string;
}

/** Its columns, but the id, of a notification `t` and its `owner`. */
export const STORED = `
  t.owner_id as "ownerId", owner.name as owner, t.event, t.package_id as "packageId",
  t.threshold_percent as "thresholdPercent", t.channel, t.target, t.target_shown as "targetShown",
  t.mailbox, t.saved_by as "savedBy", t.enabled`;

export async function readStoredNotification(
  pg: Postgres,
  id: string,
): Promise<StoredNotification | undefined> {
  if (!isUuid(id)) return undefined;
  const text = `
    select t.id, ${STORED} from notifications t join owners owner on owner.id = t.owner_id where t.id = $1`;
  const [row] = await query<StoredNotification>(pg, text, [id]);
  return row;
}

async function readNotification(
  pg: Postgres,
  { ownerId, id }: { ownerId: string; id: string },
): Promise<NotificationRecord | undefined> {
  const text = `${SELECT} where n.owner_id = $1 and n.id = $2`;
  const [row] = await query<Nullable<NotificationRecord>>(pg, text, [ownerId, id]);
  return row && withoutNulls<NotificationRecord>(row);
}

/** The caller must manage the owner's notifications, and be blocked from no package. Throws `not-found`, `forbidden`. */
export const findNotification = findById({
  name: "notification",
  admit: toOwner(wholeOwnerFor),
  read: readNotification,
});

export async function notificationFor(
  pg: Postgres,
  call: Pick<Call<"notifications.manage">, "account" | "action" | "param">,
): Promise<{ owner: Pick<Owner, "id" | "name">; notification: NotificationRecord }> {
  const { owner, row: notification } = await findNotification(pg, named({ name: "notification" }, call));
  return { owner, notification };
}

type Targeted = Pick<NotificationRecord, "id" | "event" | "channel">;

export function notificationTarget({ id, event, channel }: Targeted) {
  return { kind: "notification", id, name: `${event} by ${channel}` } as const;
}
