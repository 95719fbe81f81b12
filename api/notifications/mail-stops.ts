import { type Postgres, query } from "../postgres/query.js";
import type { Receiver } from "./agreements.js";

/** What a receiver stops, from the least to the most. */
export const STOP_SCOPES = ["notification", "owner", "service"] as const;
export type StopScope = (typeof STOP_SCOPES)[number];

/** Stops mails to the receiver. False where they were stopped before, or what they are about is gone. */
export async function putStop(pg: Postgres, receiver: Receiver, scope: StopScope): Promise<boolean> {
  const text = `
    insert into mail_stops (mailbox, owner_id, notification_id)
    select lower($1 collate "C"), $2, $3
    where ($2::uuid is null or exists (select from owners where id = $2))
      and ($3::uuid is null or exists (select from notifications where id = $3))
    on conflict do nothing returning mailbox`;
  const { mailbox, ownerId, notificationId } = receiver;
  const owner = scope === "service" ? null : ownerId;
  const notification = scope === "notification" ? notificationId : null;
  return (await query(pg, text, [mailbox, owner, notification])).length > 0;
}

/** The widest stop that keeps mails of the notification from the receiver. */
export async function readStop(pg: Postgres, receiver: Receiver): Promise<StopScope | undefined> {
  const text = `
    select owner_id as owner, notification_id as notification ${OF_RECEIVER}
    order by owner_id nulls first, notification_id nulls first limit 1`;
  const [row] = await query<{ owner: string | null; notification: string | null }>(
    pg,
    text,
    valuesOf(receiver),
  );
  if (row === undefined) return undefined;
  if (row.owner === null) return "service";
  return row.notification === null ? "owner" : "notification";
}

/** Ends every stop that keeps mails of the notification from the receiver. False where there was none. */
export async function deleteStops(pg: Postgres, receiver: Receiver): Promise<boolean> {
  return (await query(pg, `delete ${OF_RECEIVER} returning mailbox`, valuesOf(receiver))).length > 0;
}

const OF_RECEIVER = `
  from mail_stops
  where mailbox = lower($1 collate "C") and coalesce(owner_id, $2) = $2 and coalesce(notification_id, $3) = $3`;

const valuesOf = ({ mailbox, ownerId, notificationId }: Receiver) => [mailbox, ownerId, notificationId];
