import type { Pool } from "pg";
import { OPERATOR } from "../../schemas/contracts/audit-entry.js";
import { Problem } from "../../schemas/problem.js";
import { countAccounts } from "./stored-accounts.js";
import { insertAuditEntry } from "../access/audit-entries.js";
import { insertSignInLink } from "./stored-sign-in-links.js";
import { inTransaction } from "../postgres/connection.js";
import { requireAccount, type AccountDeps } from "./accounts.js";
import type { TokenCipher } from "./tokens.js";

/**
 * Makes a link of one use for the operator, and answers its secret. Without a username the link makes the first
 * account. Throws `unknown-user`, and `invalid-body` without a username if there is an account.
 */
export async function makeSignInLink(
  { pg, tokens }: AccountDeps,
  username: string | undefined,
): Promise<string> {
  return username === undefined
    ? makeFirstAccountLink({ pg, tokens })
    : makeLinkFor({ pg, tokens }, username);
}

async function makeFirstAccountLink({ pg, tokens }: AccountDeps): Promise<string> {
  if ((await countAccounts(pg)) > 0) throw new Problem("invalid-body", "Name the account that signs in.");
  return issueLink(pg, { accountId: null, tokens });
}

async function makeLinkFor({ pg, tokens }: AccountDeps, username: string): Promise<string> {
  return inTransaction(pg, async (client) => {
    const account = await requireAccount(client, username);
    if (account.disabled)
      throw new Problem("forbidden", `${account.username} is disabled: admin enable-account comes first.`);
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

/** The address of the page of a link. The secret is in the query, which no log has. */
export function signInLinkUrl(serviceUrl: string, secret: string): string {
  return `${serviceUrl.replace(/\/+$/, "")}/dashboard/sign-in/link?key=${secret}`;
}
