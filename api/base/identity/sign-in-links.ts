import type { Pool } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import { Problem } from "../../../schemas/problem.js";
import { countAccounts } from "./stored-accounts.js";
import { insertAuditEntry } from "../access/audit-entries.js";
import { inTransaction } from "../postgres/connection.js";
import { type AccountDeps, requireAccount } from "./accounts.js";
import type { TokenCipher } from "./tokens.js";
import { v7 as uuidv7 } from "uuid";
import { type Postgres, query } from "../postgres/query.js";

/** Without a username it makes the first account. Throws `unknown-user`, and `invalid-body` if there is an account. */
export async function makeSignInLink(
  { pg, tokens }: AccountDeps,
  username: string | undefined,
): Promise<string> {
  return username === undefined
    ? makeFirstAccountLink({ pg, tokens })
    : makeLinkFor({ pg, tokens }, username);
}

async function makeFirstAccountLink({ pg, tokens }: AccountDeps): Promise<string> {
  if ((await countAccounts(pg)) > 0) throw new Problem("invalid-body", "Pass the username of the account.");
  return issueLink(pg, { accountId: null, tokens });
}

async function makeLinkFor({ pg, tokens }: AccountDeps, username: string): Promise<string> {
  return inTransaction(pg, async (client) => {
    const account = await requireAccount(client, username);
    if (account.disabled)
      throw new Problem("forbidden", `${account.username} is disabled. Run admin enable-account first.`);
    const target = { kind: "user", id: account.id, name: account.username } as const;
    const entry = { ownerId: account.id, target, by: OPERATOR, action: "account.sign-in-link" } as const;
    await insertAuditEntry(client, entry);
    return issueLink(client, { accountId: account.id, tokens });
  });
}

async function issueLink(
  pg: Pick<Pool, "query">,
  { accountId, tokens }: { accountId: string | null; tokens: TokenCipher },
): Promise<string> {
  const secret = tokens.issue("link");
  await insertSignInLink(pg, { accountId, secretHash: tokens.hash(secret) });
  return secret;
}

/** The address of the page of a link. Browsers send a fragment to nobody, so that no log of a proxy has the secret. */
export function signInLinkUrl(serviceUrl: string, secret: string): string {
  return `${serviceUrl.replace(/\/+$/, "")}/dashboard/sign-in/link#key=${secret}`;
}

export const LINK_MINUTES = 15;

interface NewSignInLink {
  /** Null: the link makes the first account. */
  accountId: string | null;
  secretHash: Buffer;
}

async function insertSignInLink(pg: Postgres, { accountId, secretHash }: NewSignInLink): Promise<void> {
  const text = `
    insert into sign_in_links (id, account_id, secret_hash, expires_at)
    values ($1, $2, $3, now() + interval '${LINK_MINUTES} minutes')`;
  await query(pg, text, [uuidv7(), accountId, secretHash]);
}

export interface SignInLink {
  /** Null for the link that makes the first account. */
  account: { id: string; username: string } | null;
  /** Whether it is to make the first account, and somebody has made one since. */
  isStale: boolean;
}

/** Undefined if there is no such link, it was used or has expired, or its account is disabled. */
export async function readSignInLink(pg: Postgres, secretHash: Buffer): Promise<SignInLink | undefined> {
  const text = `
    select case when a.id is not null then json_build_object('id', a.id, 'username', o.name) end as account,
      l.account_id is null and exists (select from accounts) as "isStale"
    from sign_in_links l left join accounts a on a.id = l.account_id left join owners o on o.id = a.id
    where l.secret_hash = $1 and l.used_at is null and l.expires_at > now() and a.disabled_at is null`;
  const [row] = await query<SignInLink>(pg, text, [secretHash]);
  return row;
}

/** Answers whether this was the first use, in time. One of several requests at once succeeds. */
export async function markSignInLinkUsed(client: Postgres, secretHash: Buffer): Promise<boolean> {
  const text = `
    update sign_in_links set used_at = now()
    where secret_hash = $1 and used_at is null and expires_at > now() returning id`;
  return (await query(client, text, [secretHash])).length > 0;
}

export async function deleteEndedSignInLinks(pg: Postgres): Promise<number> {
  const text = "delete from sign_in_links where expires_at < now() or used_at is not null returning id";
  return (await query(pg, text)).length;
}
