import type { PoolClient } from "pg";
import { parseOrganizationUpsert } from "../../../schemas/contracts/organization.js";
import { Problem } from "../../../schemas/problem.js";
import { insertAuditEntry } from "../../base/access/audit-entries.js";
import { lockFirstAccount } from "../../base/identity/stored-accounts.js";
import { insertOrganization } from "./organizations.js";
import { markSignInLinkUsed } from "../../base/identity/sign-in-links.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { addAccount } from "../../base/identity/accounts.js";
import { beginSession, usableLink, type Attempting, type SignInDeps } from "../../base/identity/sign-in.js";

export interface FirstAccount {
  username: string;
  email: string;
  organization: string | undefined;
}

/**
 * Makes the first account with the link that was printed for it, and signs it in. Answers the session's secret. The
 * link is used up only when the account is made. Data export is not granted: that is for the operator to do. Throws
 * `unauthenticated` also if there is an account, `rate-limited`, `invalid-body` and `already-exists`.
 */
export async function makeFirstAccount(
  { pg, tokens, limits }: SignInDeps,
  { link, made }: { link: string; made: FirstAccount },
  attempting: Attempting,
): Promise<string> {
  return limits.attempt({ address: attempting.browser.address, by: "link" }, () =>
    inTransaction(pg, async (client) => {
      await lockFirstAccount(client);
      const usable = await usableLink(client, { secret: link, tokens });
      if (usable?.account !== null) return undefined;
      if (usable.isStale) throw new Problem("unauthenticated", STALE_LINK);
      const { id, username } = await addAccount(client, { tokens, ...made, requestId: attempting.requestId });
      await addOrganization(client, { accountId: id, ...made, requestId: attempting.requestId });
      await markSignInLinkUsed(client, tokens.hash(link));
      return beginSession(
        { pg: client, tokens },
        { account: { id, username }, method: "link", ...attempting },
      );
    }),
  );
}

export const STALE_LINK = "The first account already exists, so this link no longer works. Sign in instead.";

interface AddingOrganization extends FirstAccount {
  accountId: string;
  requestId: string;
}

async function addOrganization(
  client: PoolClient,
  { accountId, organization: name, email, requestId }: AddingOrganization,
): Promise<void> {
  if (name === undefined) return;
  const organization = parseOrganizationUpsert({ name, description: "", billingEmail: email });
  const { id } = await insertOrganization(client, { organization, creatorId: accountId });
  const by = { accountId, tokenName: undefined, requestId };
  const target = { kind: "organization", id, name } as const;
  const entry = { ownerId: id, by, action: "organization.create", target, changes: organization } as const;
  await insertAuditEntry(client, entry);
}
