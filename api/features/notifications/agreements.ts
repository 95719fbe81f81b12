import { v7 as uuidv7 } from "uuid";
import { isUuid } from "../../../schemas/formats.js";
import type { Account } from "../../base/access/access.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { CONFIRMATION_DAYS } from "./mail-limits.js";

/** Whether a receiver gets mails of an owner: see `receiver_state` in the schema. */
export type ReceiverState = "awaiting" | "confirmed" | "stopped";

/** Of the mails of an owner. */
export interface Receiver {
  ownerId: string;
  /** The result of `mailboxKey`. */
  mailbox: string;
}

/** The event of messages that ask a receiver, in the outbox of notifications. */
export const AGREEMENT = "agreement";

/** Who asks. */
export interface AgreementData {
  account_id: string;
  asker: string;
}

export async function readReceiverState(
  pg: Postgres,
  { ownerId, mailbox }: Receiver,
): Promise<ReceiverState> {
  const text = "select receiver_state($1, $2) as state";
  const [row] = await query<{ state: ReceiverState }>(pg, text, [ownerId, mailbox]);
  return row?.state ?? "awaiting";
}

const ASKED_LATELY = `asked_at > clock_timestamp() - interval '${CONFIRMATION_DAYS} days'`;

/**
 * Puts a confirmation mail where workers send it from, unless the receiver needs none or was asked within
 * `CONFIRMATION_DAYS`. The owner must be locked. Every notification that waits has a message of its own, so that none is
 * lost with another notification; the first that is sent ends the others.
 */
export async function enqueueConfirmation(
  pg: Postgres,
  { ownerId, mailbox }: Receiver,
  { notificationId, account }: { notificationId: string; account: Pick<Account, "id" | "username"> },
): Promise<void> {
  const data: AgreementData = { account_id: account.id, asker: account.username };
  const text = `
    insert into notification_messages (id, owner_id, notification_id, event, period, state, data, complete_through)
    select $1::uuid, $2, $3, $5, $1::uuid::text, 'pending', $6, clock_timestamp()
    where receiver_state($2, $4) = 'awaiting'
      and not exists (
        select from mail_agreements where owner_id = $2 and inbox_of(mailbox) = inbox_of($4) and ${ASKED_LATELY}
      )
      and not exists (
        select from notification_messages where notification_id = $3 and event = $5 and state = 'pending'
      )`;
  await query(pg, text, [uuidv7(), ownerId, notificationId, mailbox, AGREEMENT, JSON.stringify(data)]);
}

/** Seconds until the owner may ask the address again; 0 if it may now. */
export async function secondsUntilAskedAgain(pg: Postgres, { ownerId, mailbox }: Receiver): Promise<number> {
  const text = `
    select extract(epoch from max(asked_at) + interval '${CONFIRMATION_DAYS} days' - clock_timestamp())::float8 as seconds
    from mail_agreements where owner_id = $1 and inbox_of(mailbox) = inbox_of($2) and ${ASKED_LATELY}`;
  const [row] = await query<{ seconds: number | null }>(pg, text, [ownerId, mailbox]);
  return Math.ceil(row?.seconds ?? 0);
}

/**
 * Writes down that this message asks the receiver; the id that its link names. Undefined where another message asked
 * within `CONFIRMATION_DAYS`. A message that is sent again stays the one that asked.
 */
export async function putAsked(
  pg: Postgres,
  { ownerId, mailbox, messageId, asker }: Receiver & Asking,
): Promise<string | undefined> {
  const text = `
    insert into mail_agreements as a (id, owner_id, mailbox, asked_at, asked_by, asker)
    select $1, $2, $3, clock_timestamp(), $4, $5
    where not exists (
      select from mail_agreements
      where owner_id = $2 and mailbox <> $3 and inbox_of(mailbox) = inbox_of($3) and ${ASKED_LATELY}
    )
    on conflict on constraint mail_agreements_once
    do update set asked_at = excluded.asked_at, asked_by = excluded.asked_by, asker = excluded.asker
    where a.asked_by = excluded.asked_by or not coalesce(a.${ASKED_LATELY}, false)
    returning id`;
  const [row] = await query<{ id: string }>(pg, text, [uuidv7(), ownerId, mailbox, messageId, asker]);
  return row?.id;
}

/** Undoes `putAsked` for a message that could not be sent, so that the owner can ask again at once. */
export async function deleteAsked(
  pg: Postgres,
  { id, messageId }: { id: string; messageId: string },
): Promise<void> {
  const text = "update mail_agreements set asked_at = null where id = $1 and asked_by = $2";
  await query(pg, text, [id, messageId]);
}

interface Asking {
  messageId: string;
  asker: string;
}

export interface Agreement {
  id: string;
  ownerId: string;
  owner: string;
  mailbox: string;
  asker: string;
  isAgreed: boolean;
  /** Whether the link of this message can be used: it is the last one, and not too old. */
  isOpen: boolean;
}

export async function readAgreement(
  pg: Postgres,
  { id, messageId }: { id: string; messageId: string },
): Promise<Agreement | undefined> {
  if (!isUuid(id) || !isUuid(messageId)) return undefined;
  const text = `
    select a.id, a.owner_id as "ownerId", o.name as owner, a.mailbox, a.asker, a.agreed_at is not null as "isAgreed",
      a.asked_by = $2 and a.${ASKED_LATELY} as "isOpen"
    from mail_agreements a join owners o on o.id = a.owner_id where a.id = $1`;
  const [row] = await query<Agreement>(pg, text, [id, messageId]);
  return row;
}

/** False if the receiver agreed before. */
export async function putAgreed(pg: Postgres, id: string): Promise<boolean> {
  const text = `
    update mail_agreements set agreed_at = clock_timestamp() where id = $1 and agreed_at is null returning id`;
  return (await query(pg, text, [id])).length > 0;
}
