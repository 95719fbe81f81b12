import type { Pool } from "pg";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, deleteInBatches, query } from "../../base/postgres/query.js";
import { type Receiver, type ReceiverState, putAsked, readReceiverState } from "./agreements.js";
import { COUNTS_KEPT_HOURS, MAIL_LIMITS, type MailKind, inboxOf, limitSentence } from "./mail-limits.js";

/** A mail that is about to be sent. */
export interface MailToAdmit extends Receiver {
  /** Counts once, however often it is tried. */
  messageId: string;
  kind: MailKind;
  /** The account that saved the notification, or pressed the button. */
  accountId: string | null;
  /** The username of that account, for a confirmation mail. */
  asker?: string;
}

export type Admission =
  /** `agreementId`: of a confirmation mail. */
  { is: "admitted"; agreementId?: string } | { is: "unwanted"; state: ReceiverState } | Limited;

export interface Limited {
  is: "limited";
  /** Until there is room. */
  seconds: number;
  sentence: string;
}

/**
 * Decides whether a mail may be sent now, and counts it if so. Mails to one receiver, and those of one account, are
 * decided on one after the other, in all processes.
 */
export async function admitMail(pg: Pool, mail: MailToAdmit): Promise<Admission> {
  return inTransaction(pg, async (client) => {
    await query(client, TAKE_TURN, [Object.values(keysOf(mail))]);
    const state = await readReceiverState(client, mail);
    const isConfirmation = mail.kind === "confirmation";
    if (state !== (isConfirmation ? "awaiting" : "confirmed")) return { is: "unwanted", state };
    const limited = await findLimit(client, mail);
    if (limited !== undefined) return limited;
    const agreementId = isConfirmation
      ? await putAsked(client, { ...mail, asker: mail.asker ?? "" })
      : undefined;
    if (isConfirmation && agreementId === undefined) return { is: "unwanted", state };
    await countMail(client, mail);
    return { is: "admitted", ...(agreementId !== undefined && { agreementId }) };
  });
}

/** In order, so that two that share both keys do not wait for each other. */
const TAKE_TURN = `
  select pg_advisory_xact_lock(key)
  from (select distinct hashtextextended('mails of ' || text, 0) as key from unnest($1::text[]) text order by 1) keys`;

type Counted = Pick<MailToAdmit, "mailbox" | "accountId" | "kind"> & { messageId?: string };

function keysOf({ mailbox, accountId }: Counted): Record<string, string> {
  const receiver = `receiver ${inboxOf(mailbox)}`;
  if (accountId === null) return { receiver };
  const account = `account ${accountId}`;
  return { receiver, account, pair: `${account}, ${receiver}` };
}

/** The limit that has room last; undefined where all have room, or the message was counted before. */
export async function findLimit(pg: Postgres, mail: Counted): Promise<Limited | undefined> {
  const keys = keysOf(mail);
  const limits = MAIL_LIMITS.filter(({ by, kinds }) => by in keys && kinds.includes(mail.kind));
  const rows = limits.map(({ by, kinds, max, hours }, nth) => ({
    nth,
    counted_by: keys[by],
    kinds,
    max,
    hours,
  }));
  const text = `
    select l.nth,
      extract(epoch from c.sent_at + l.hours * interval '1 hour' - clock_timestamp())::float8 as seconds
    from jsonb_to_recordset($1::jsonb) as l (nth int, counted_by text, kinds jsonb, max int, hours float8)
    cross join lateral (
      select sent_at from mail_counts
      where counted_by = l.counted_by and l.kinds ? kind
        and sent_at > clock_timestamp() - l.hours * interval '1 hour'
      order by sent_at desc offset l.max - 1 limit 1
    ) c
    where not exists (select from mail_counts where message_id = $2)
    order by seconds desc limit 1`;
  const [row] = await query<{ nth: number; seconds: number }>(pg, text, [
    JSON.stringify(rows),
    mail.messageId ?? null,
  ]);
  const limit = row && limits[row.nth];
  if (limit === undefined) return undefined;
  return {
    is: "limited",
    seconds: Math.max(1, Math.ceil(row?.seconds ?? 1)),
    sentence: limitSentence(limit),
  };
}

async function countMail(pg: Postgres, mail: MailToAdmit): Promise<void> {
  const text = `
    insert into mail_counts (message_id, counted_by, kind) select $1, unnest($2::text[]), $3
    on conflict do nothing`;
  await query(pg, text, [mail.messageId, Object.values(keysOf(mail)), mail.kind]);
}

export function deleteOldMailCounts(pg: Postgres): Promise<number> {
  return deleteInBatches(pg, {
    table: "mail_counts",
    where: `t.sent_at < clock_timestamp() - interval '${COUNTS_KEPT_HOURS} hours'`,
  });
}

/** Why a mail is not sent to a receiver who does not get it. */
export function unwantedSentence(address: string, state: ReceiverState): string {
  return state === "stopped"
    ? `${address} unsubscribed from these emails. Only the receiver can undo this.`
    : `${address} has not confirmed the address yet.`;
}
