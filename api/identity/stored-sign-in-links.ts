import { v7 as uuidv7 } from "uuid";
import { query, type Postgres } from "../postgres/query.js";

/** How long a link can be used. */
export const LINK_MINUTES = 15;

export interface NewSignInLink {
  /** Null: the link makes the first account. */
  accountId: string | null;
  secretHash: Buffer;
}

export async function insertSignInLink(
  pg: Postgres,
  { accountId, secretHash }: NewSignInLink,
): Promise<void> {
  const text = `
    insert into sign_in_links (id, account_id, secret_hash, expires_at)
    values ($1, $2, $3, now() + interval '${LINK_MINUTES} minutes')`;
  await query(pg, text, [uuidv7(), accountId, secretHash]);
}

/** A link that can still be used. */
export interface SignInLink {
  /** Null for the link that makes the first account. */
  account: { id: string; username: string } | null;
}

/** Undefined if there is no such link, it was used or has expired, or its account is disabled. */
export async function readSignInLink(pg: Postgres, secretHash: Buffer): Promise<SignInLink | undefined> {
  const text = `
    select case when a.id is not null then json_build_object('id', a.id, 'username', o.name) end as account
    from sign_in_links l left join accounts a on a.id = l.account_id left join owners o on o.id = a.id
    where l.secret_hash = $1 and l.used_at is null and l.expires_at > now() and a.disabled_at is null`;
  const [row] = await query<{ account: SignInLink["account"] }>(pg, text, [secretHash]);
  return row;
}

/** Answers whether this was the first use, in time. One of several requests at once succeeds. */
export async function markSignInLinkUsed(client: Postgres, secretHash: Buffer): Promise<boolean> {
  const text = `
    update sign_in_links set used_at = now()
    where secret_hash = $1 and used_at is null and expires_at > now() returning id`;
  return (await query(client, text, [secretHash])).length > 0;
}

/** Answers how many were deleted. */
export async function deleteEndedSignInLinks(pg: Postgres): Promise<number> {
  const text = "delete from sign_in_links where expires_at < now() or used_at is not null returning id";
  return (await query(pg, text)).length;
}
