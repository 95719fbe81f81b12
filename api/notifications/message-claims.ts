import { v7 as uuidv7 } from "uuid";
import { type Postgres, query } from "../postgres/query.js";
import type { AnyData } from "./messages.js";
import type { StoredNotification } from "./notifications.js";

/** A message that one process has until its lease ends. */
export interface ClaimedMessage {
  id: string;
  claim: string;
  attempts: number;
  corrects: string | null;
  data: AnyData;
  createdAt: Date;
  notification: StoredNotification;
}

/** Longer than an attempt takes: a mail server answers about twelve times, each time within half a minute. */
const LEASE = "interval '10 minutes'";

/** The claim of a process that died ends with its lease: another sends the message, with the same id. */
export async function claimMessages(pg: Postgres, limit: number): Promise<ClaimedMessage[]> {
  const claim = uuidv7();
  const text = `
    with due as (
      select id from notification_messages
      where state = 'pending' and next_attempt_at <= clock_timestamp()
      order by next_attempt_at limit $2 for update skip locked
    ), claimed as (
      update notification_messages m set claim = $1, next_attempt_at = clock_timestamp() + ${LEASE}
      from due where m.id = due.id returning m.*
    )
    select m.id, m.attempts, m.corrects, m.data, m.created_at as "createdAt", n.id as "notificationId",
      n.owner_id as "ownerId", o.name as owner, m.event, n.package_id as "packageId",
      n.threshold_percent as "thresholdPercent", n.channel, n.target, n.target_shown as "targetShown", n.enabled,
      n.base_url as "baseUrl"
    from claimed m join notifications n on n.id = m.notification_id join owners o on o.id = n.owner_id order by m.id`;
  const rows = await query<ClaimedRow>(pg, text, [claim, limit]);
  return rows.map(({ id, attempts, corrects, data, createdAt, notificationId, ...notification }) => ({
    id,
    claim,
    attempts,
    corrects,
    data,
    createdAt,
    notification: { ...notification, id: notificationId },
  }));
}

type ClaimedRow = Omit<ClaimedMessage, "claim" | "notification"> &
  Omit<StoredNotification, "id"> & { notificationId: string };

export type Attempted = { state: "sent" } | { state: "failed" | "pending"; error: string; delayMs?: number };

/** An outcome counts only while no other claim has replaced this one. One that arrived is sent, cancelled or not. */
export async function putAttempt(
  pg: Postgres,
  { id, claim }: Pick<ClaimedMessage, "id" | "claim">,
  attempted: Attempted,
): Promise<void> {
  const text = `
    update notification_messages set state = $3, attempts = attempts + 1, claim = null, last_error = $4,
      next_attempt_at = clock_timestamp() + $5::float8 * interval '1 millisecond',
      ended_at = case when $3 = 'pending' then null else clock_timestamp() end
    where id = $1 and (claim = $2 or $3 = 'sent') and state <> 'sent'`;
  const [error, delayMs] = attempted.state === "sent" ? [null, 0] : [attempted.error, attempted.delayMs ?? 0];
  await query(pg, text, [id, claim, attempted.state, error, delayMs]);
}
