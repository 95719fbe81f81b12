import type { Pool, PoolClient } from "pg";
import { OPERATOR } from "../../schemas/contracts/audit-entry.js";
import { Problem } from "../../schemas/problem.js";
import {
  deleteAccount,
  lockOrganizationsOf,
  readBelongings,
  updateDisabled,
  type Belongings,
} from "./account-removal.js";
import { lockTokens, type NamedAccount } from "../identity/stored-accounts.js";
import { insertAuditEntry, type OperatorAction } from "../access/audit-entries.js";
import { deleteSessionsOf } from "../identity/stored-sessions.js";
import { inTransaction } from "../postgres/connection.js";
import { requireAccount } from "../identity/accounts.js";
import { listed } from "../organizations/listed-names.js";

/**
 * Disables an account for the operator: its tokens are refused at once and its sessions end. Its things stay, and
 * collect on. Enabled again, it has its tokens and its password back. Throws `unknown-user`.
 */
export async function switchAccount(
  pg: Pool,
  { username, disabled }: { username: string; disabled: boolean },
): Promise<void> {
  await inTransaction(pg, async (client) => {
    const account = await lockedAccount(client, username);
    if (!(await updateDisabled(client, { accountId: account.id, disabled }))) return;
    if (disabled) await deleteSessionsOf(client, account.id);
    const action = disabled ? "account.disable" : "account.enable";
    await recordOfOperator(client, { account, ownerId: account.id, action });
  });
}

/**
 * Removes an account for the operator. The organizations that it belonged to have this in their logs. Throws
 * `unknown-user`, and `cannot-remove-last-owner` naming everything that would be left without an owner.
 */
export async function removeAccount(pg: Pool, username: string): Promise<void> {
  await inTransaction(pg, async (client) => {
    const account = await lockedAccount(client, username);
    const organizations = await lockOrganizationsOf(client, account.id);
    requireNothingLeft(account, await readBelongings(client, account.id));
    for (const ownerId of organizations)
      await recordOfOperator(client, { account, ownerId, action: "account.remove" });
    await deleteAccount(client, account);
  });
}

/** The account that an operator names. Nothing else changes it until the transaction ends. Throws `unknown-user`. */
export async function lockedAccount(client: PoolClient, username: string): Promise<NamedAccount> {
  const account = await requireAccount(client, username);
  await lockTokens(client, account.id);
  return account;
}

function requireNothingLeft({ username }: NamedAccount, belongings: Belongings): void {
  const { organizations, packages, pixels, imports } = belongings;
  const obstacles = [
    { what: "is the last owner of", names: organizations, remedy: "make somebody else an owner there" },
    { what: "owns the packages", names: packages, remedy: "delete the packages" },
    { what: "owns the pixels", names: pixels, remedy: "delete the pixels" },
    {
      what: "started imports that still run:",
      names: imports,
      remedy: "abort these imports or wait for them",
    },
  ].filter(({ names }) => names.length > 0);
  if (obstacles.length === 0) return;
  const reasons = obstacles.map(({ what, names }) => `${what} ${listed(names)}`).join("; and ");
  const remedies = obstacles.map(({ remedy }) => remedy).join(", ");
  throw new Problem(
    "cannot-remove-last-owner",
    `${username} ${reasons}. Nothing was removed. First, ${remedies} (rotate-token prints a token for that); ` +
      "disable-account works at any time.",
  );
}

interface Recording {
  account: NamedAccount;
  ownerId: string;
  action: OperatorAction;
  changes?: Record<string, unknown>;
}

/** Writes into the owner's log what an operator did to an account. */
export async function recordOfOperator(
  client: PoolClient,
  { account, ownerId, action, changes }: Recording,
): Promise<void> {
  const target = { kind: "user", id: account.id, name: account.username } as const;
  await insertAuditEntry(client, { ownerId, by: OPERATOR, action, target, ...(changes && { changes }) });
}
