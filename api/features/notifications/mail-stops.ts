import { type Postgres, query } from "../../base/postgres/query.js";
import type { Receiver } from "./agreements.js";

/** What a receiver stops, from the least to the most. */
export const STOP_SCOPES = ["owner", "service"] as const;
export type StopScope = (typeof STOP_SCOPES)[number];

/**
 * Stops mails to every spelling of the receiver's inbox: those of the whole service if the owner is gone, because its account may ask for another
 * owner. False if they were stopped before.
 */
export async function putStop(
  pg: Postgres,
  { ownerId, mailbox }: Receiver,
  scope: StopScope,
): Promise<boolean> {
  const text = `
    insert into mail_stops (inbox, owner_id)
    values (inbox_of($1), (select id from owners where id = $2 and $3 = 'owner'))
    on conflict do nothing returning inbox`;
  return (await query(pg, text, [mailbox, ownerId, scope])).length > 0;
}

/** The widest stop that keeps mails of the owner from the receiver. */
export async function readStop(pg: Postgres, { ownerId, mailbox }: Receiver): Promise<StopScope | undefined> {
  const text = `select owner_id as owner ${OF_RECEIVER} order by owner_id nulls first limit 1`;
  const [row] = await query<{ owner: string | null }>(pg, text, [mailbox, ownerId]);
  if (row === undefined) return undefined;
  return row.owner === null ? "service" : "owner";
}

/** Ends every stop that keeps mails of the owner from the receiver. False if there was none. */
export async function deleteStops(pg: Postgres, { ownerId, mailbox }: Receiver): Promise<boolean> {
  return (await query(pg, `delete ${OF_RECEIVER} returning inbox`, [mailbox, ownerId])).length > 0;
}

const OF_RECEIVER = "from mail_stops where inbox = inbox_of($1) and coalesce(owner_id, $2) = $2";
