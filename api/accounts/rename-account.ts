import type { Pool } from "pg";
import { FORMATS, isOwnerName } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import { lockOrganizationsOf } from "./account-removal.js";
import { updateUsername } from "../identity/stored-accounts.js";
import { lockRenames } from "../access/owners.js";
import { inTransaction } from "../postgres/connection.js";
import { lockedAccount, recordOfOperator } from "./disable-account.js";

/**
 * Renames an account for the operator. Its tokens, sessions and things stay, and the old name is free at once. Its own log
 * and those of its organizations have the old name and the new one. Answers the old name. Throws `unknown-user`,
 * `invalid-body`, `already-exists`.
 */
export async function renameAccount(
  pg: Pool,
  { username, to }: { username: string; to: string },
): Promise<string> {
  if (!isOwnerName(to)) {
    const message = FORMATS["owner-name"].sentence;
    const errors = [{ path: "/username", message }];
    throw new Problem("invalid-body", `${username} keeps this name: the new one ${message}.`, { errors });
  }
  return inTransaction(pg, async (client) => {
    await lockRenames(client);
    const account = await lockedAccount(client, username);
    if (account.username === to) return to;
    const organizations = await lockOrganizationsOf(client, account.id);
    await updateUsername(client, { accountId: account.id, username: to });
    for (const ownerId of [account.id, ...organizations])
      await recordOfOperator(client, {
        account,
        ownerId,
        action: "account.rename",
        changes: { username: to },
      });
    return account.username;
  });
}
