import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import type { NotificationData, NotificationEvent } from "../../../schemas/contracts/notification-event.js";
import type { Claimed, Queue } from "../../base/outbox/claim-items.js";
import { type ItemOutcome, lockTargets, recordItems } from "../../base/outbox/record-items.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, deleteInBatches, query } from "../../base/postgres/query.js";
import type { AgreementData } from "./agreements.js";
import { STORED, type StoredNotification } from "./notifications.js";
import type { Rule } from "./rules.js";

export type AnyData = NotificationData[NotificationEvent];

/** What was found for a period. */
export interface FoundMessage {
  id: string;
  period: string;
  state: "nothing" | "pending" | "sent" | "failed" | "cancelled";
  data: AnyData;
  completeThrough: Date;
  checkedAt: Date;
  isCorrected: boolean;
}

/** What is known of these periods of a rule? */
export async function readMessages(
  pg: Postgres,
  { rule, periods }: { rule: Rule; periods: readonly string[] },
): Promise<FoundMessage[]> {
  const text = `
    select m.id, m.period, m.state, m.data, m.complete_through as "completeThrough", m.checked_at as "checkedAt",
      exists (select from notification_messages c where c.corrects = m.id) as "isCorrected"
    from notification_messages m
    where coalesce(m.notification_id, m.owner_id) = $1 and m.event = $2 and m.period = any ($3) and m.corrects is null`;
  return query<FoundMessage>(pg, text, [rule.notificationId ?? rule.ownerId, rule.event, periods]);
}

export interface NewMessage {
  rule: Rule;
  period: string;
  corrects?: string | undefined;
  state: "nothing" | "pending" | "sent";
  data: AnyData;
  completeThrough: string;
}

/** False where another process was faster: there is one message for each period, and one correction. */
export async function insertMessage(pg: Postgres, message: NewMessage): Promise<boolean> {
  const { rule, period, corrects = null, state, data, completeThrough } = message;
  const text = `
    insert into notification_messages
      (id, owner_id, notification_id, event, period, corrects, state, data, complete_through, ended_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, case when $7 = 'sent' then clock_timestamp() end)
    on conflict do nothing returning id`;
  const values = [uuidv7(), rule.ownerId, rule.notificationId, rule.event, period, corrects, state];
  const rows = await query(pg, text, [...values, JSON.stringify(data), completeThrough]);
  return rows.length > 0;
}

/**
 * Writes down failures that no message of the rule has told, in this order; answers those that were new. One of them is
 * then to be told with `tellGathered`, in the same transaction.
 */
export async function insertGathered(
  pg: Postgres,
  { rule, periods }: { rule: Rule; periods: readonly string[] },
): Promise<{ id: string; period: string }[]> {
  const text = `
    insert into notification_messages (id, owner_id, notification_id, event, period, state, data, complete_through)
    select f.id, $1, $2, $3, f.period, 'gathered', '{}', clock_timestamp()
    from unnest($4::uuid[], $5::text[]) as f (id, period)
    on conflict do nothing returning id, period`;
  const ids = periods.map(() => uuidv7());
  return query(pg, text, [rule.ownerId, rule.notificationId, rule.event, ids, periods]);
}

export async function tellGathered(
  pg: Postgres,
  { id, state, data }: { id: string; state: "pending" | "sent"; data: AnyData },
): Promise<void> {
  const text = `
    update notification_messages
    set state = $2, data = $3, ended_at = case when $2 = 'sent' then clock_timestamp() end
    where id = $1`;
  await query(pg, text, [id, state, JSON.stringify(data)]);
}

/** When did the rule last tell of failures? */
export async function readLastTold(pg: Postgres, rule: Rule): Promise<Date | undefined> {
  const text = `
    select created_at as told from notification_messages
    where coalesce(notification_id, owner_id) = $1 and event = $2 and state <> 'gathered' and created_at > $3
    order by created_at desc limit 1`;
  const values = [rule.notificationId ?? rule.ownerId, rule.event, rule.since];
  const [row] = await query<{ told: Date }>(pg, text, values);
  return row?.told;
}

/** Of a period that was looked at again: with `data` there was nothing to tell before, and there is now. */
export async function updateChecked(
  pg: Postgres,
  {
    id,
    completeThrough,
    state,
    data,
  }: { id: string; completeThrough: string; state?: "pending" | "sent"; data?: AnyData },
): Promise<boolean> {
  const text = `
    update notification_messages
    set complete_through = $2, checked_at = clock_timestamp(), state = coalesce($3, state), data = coalesce($4, data),
      ended_at = case when $3 = 'sent' then clock_timestamp() else ended_at end
    where id = $1 and ($3::text is null or state = 'nothing') returning id`;
  const values = [id, completeThrough, state ?? null, data === undefined ? null : JSON.stringify(data)];
  return (await query(pg, text, values)).length > 0;
}

/** When was the last import of the owner started, or retracted, that the numbers have? */
export async function readLastAsked(
  pg: Postgres,
  { ownerId, completeThrough }: { ownerId: string; completeThrough: string },
): Promise<Date | undefined> {
  const text = `select max(asked_at) as last from imports where owner_id = $1 and asked_at < $2`;
  const [row] = await query<{ last: Date | null }>(pg, text, [ownerId, completeThrough]);
  return row?.last ?? undefined;
}

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
  arrived: "sent",
  acceptsLate: true,
  error: "last_error",
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

export async function recordAttempts(pg: Pool, outcomes: readonly MessageOutcome[]): Promise<void> {
  const items = outcomes.map(itemOutcome);
  const tried = outcomes.filter((_, nth) => items[nth]?.isAttempt);
  const idsOf = (some: readonly MessageOutcome[]) => some.map(({ message }) => message.targetId);
  await inTransaction(pg, async (client) => {
    await lockTargets(client, MESSAGES, idsOf(outcomes));
    await recordItems(client, MESSAGES, { outcomes: items });
    const areSent = tried.map(({ attempted }) => attempted.state === "sent");
    await query(client, UPDATE_NOTIFICATIONS, [idsOf(tried), areSent]);
  });
}

function itemOutcome({ message: item, attempted }: MessageOutcome): ItemOutcome {
  const isWaiting = attempted.state === "waiting";
  const isAttempt = !isWaiting && attempted.state !== "cancelled";
  return { item, ...attempted, state: isWaiting ? "pending" : attempted.state, isAttempt };
}

const UPDATE_NOTIFICATIONS = `
  update notifications n set
    failing_since = case when o.is_sent then null else coalesce(n.failing_since, clock_timestamp()) end
  from (
    select id, bool_or(is_sent) as is_sent from unnest($1::uuid[], $2::boolean[]) as t (id, is_sent) group by id
  ) o
  where n.id = o.id and (n.failing_since is null) <> o.is_sent`;

/** Those that wait are not sent any more. */
export async function cancelMessages(pg: Postgres, notificationId: string): Promise<void> {
  const text = `
    update notification_messages set state = 'cancelled', claim = null, ended_at = clock_timestamp()
    where notification_id = $1 and state = 'pending'`;
  await query(pg, text, [notificationId]);
}

/** Longer than any period is looked at again: without its message it would be told a second time. */
const KEPT = "interval '100 days'";

export function deleteOldMessages(pg: Postgres): Promise<number> {
  return deleteInBatches(pg, {
    table: "notification_messages",
    where: `t.created_at < clock_timestamp() - ${KEPT}`,
  });
}
