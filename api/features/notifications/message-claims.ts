import type { Pool } from "pg";
import type { Claimed, Queue } from "../../base/outbox/claim-items.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { query } from "../../base/postgres/query.js";
import type { AgreementData } from "./agreements.js";
import type { AnyData } from "./messages.js";
import { STORED, type StoredNotification } from "./notifications.js";

/** A message that one process has until its lease ends. */
export interface ClaimedMessage extends Claimed, Omit<StoredNotification, "id"> {
  corrects: string | null;
  /** Of the message: that of its notification, or `AGREEMENT`. */
  told: string;
  data: AnyData | AgreementData;
  createdAt: Date;
  /** When it was put here to be sent. */
  plannedAt: Date;
}

export const MESSAGES: Queue = {
  items: "notification_messages",
  target: "notification_id",
  targets: "notifications",
  columns: `d.corrects, d.event as told, d.data, d.created_at as "createdAt", d.checked_at as "plannedAt", ${STORED}`,
  joins: "join owners owner on owner.id = t.owner_id",
};

export type Attempted =
  | { state: "sent" }
  | { state: "failed" | "pending"; error: string; delayMs?: number }
  /** Not attempted, and to be tried later. */
  | { state: "waiting"; error: string; delayMs: number }
  /** Not attempted, because it is not wanted. */
  | { state: "cancelled" };

export interface MessageOutcome {
  message: Pick<ClaimedMessage, "id" | "claim" | "targetId">;
  attempted: Attempted;
}

/** An outcome counts only while no other claim has replaced this one. One that arrived is sent, cancelled or not. */
export async function recordAttempts(pg: Pool, outcomes: readonly MessageOutcome[]): Promise<void> {
  const rows = JSON.stringify(outcomes.map(rowOf));
  await inTransaction(pg, async (client) => {
    // Notifications are locked before messages, as by a change of one, and in one order, so that nobody deadlocks.
    await query(client, LOCK_NOTIFICATIONS, [outcomes.map(({ message }) => message.targetId)]);
    await query(client, UPDATE_MESSAGES, [rows]);
    await query(client, UPDATE_NOTIFICATIONS, [rows]);
  });
}

function rowOf({ message, attempted }: MessageOutcome) {
  const { id, claim, targetId } = message;
  const isTried = attempted.state !== "waiting" && attempted.state !== "cancelled";
  const state = attempted.state === "waiting" ? "pending" : attempted.state;
  const failed = "error" in attempted ? { error: attempted.error, delay_ms: attempted.delayMs } : {};
  return { id, claim, notification_id: targetId, state, is_tried: isTried, ...failed };
}

const OUTCOMES = `jsonb_to_recordset($1::jsonb) as o (
    id uuid, claim uuid, notification_id uuid, state text, is_tried boolean, error text, delay_ms float8)`;

const LOCK_NOTIFICATIONS =
  "select from notifications where id = any ($1::uuid[]) order by id for no key update";

const UPDATE_MESSAGES = `
  update notification_messages m set state = o.state, attempts = attempts + o.is_tried::int, claim = null, last_error = o.error,
    next_attempt_at = clock_timestamp() + coalesce(o.delay_ms, 0) * interval '1 millisecond',
    ended_at = case when o.state = 'pending' then null else clock_timestamp() end
  from ${OUTCOMES}
  where m.id = o.id and (m.claim = o.claim or o.state = 'sent') and m.state <> 'sent'`;

const UPDATE_NOTIFICATIONS = `
  update notifications n set
    failing_since = case when o.is_sent then null else coalesce(n.failing_since, clock_timestamp()) end
  from (select notification_id, bool_or(state = 'sent') as is_sent from ${OUTCOMES} where is_tried group by 1) o
  where n.id = o.notification_id and (n.failing_since is null) <> o.is_sent`;
