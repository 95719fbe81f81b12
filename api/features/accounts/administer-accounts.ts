import { type Postgres, query, utc } from "../../base/postgres/query.js";
import type { Pool, PoolClient } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import { Problem } from "../../../schemas/problem.js";
import { type NamedAccount, lockTokens, updateUsername } from "../../base/identity/stored-accounts.js";
import { type OperatorAction, insertAuditEntry } from "../../base/access/audit-entries.js";
import { deleteSessionsOf } from "../../base/identity/sessions.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { requireAccount } from "../../base/identity/accounts.js";
import { listed } from "./remove-organization.js";
import { FORMATS, isOwnerName } from "../../../schemas/formats.js";
import { lockRenames } from "../../base/access/owners.js";

export interface ListedAccount {
  username: string;
  email: string;
  createdAt: string;
  exportEnabled: boolean;
  disabled: boolean;
  organizations: { name: string; role: string }[];
}

export async function listAccounts(pg: Postgres): Promise<ListedAccount[]> {
  const text = `
    select o.name as username, a.email, ${utc("a.created_at")} as "createdAt", o.export_enabled as "exportEnabled",
      a.disabled_at is not null as disabled,
      coalesce((select jsonb_agg(jsonb_build_object('name', g.name, 'role', m.role) order by g.name_key)
        from memberships m join owners g on g.id = m.organization_id where m.account_id = a.id), '[]') as organizations
    from accounts a join owners o on o.id = a.id order by o.name_key`;
  return query<ListedAccount>(pg, text);
}

/** Disabling ends the sessions and refuses the tokens; they work again once enabled. Throws `unknown-user`. */
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

/** Locked until the transaction ends. Throws `unknown-user`. */
async function lockedAccount(client: PoolClient, username: string): Promise<NamedAccount> {
  const account = await requireAccount(client, username);
  await lockTokens(client, account.id);
  return account;
}

function requireNothingLeft({ username }: NamedAccount, belongings: Belongings): void {
  const { organizations, packages, pixels, imports } = belongings;
  const obstacles = [
    { what: "is the last owner of", names: organizations, remedy: "make another member an owner" },
    { what: "owns the packages", names: packages, remedy: "delete the packages" },
    { what: "owns the pixels", names: pixels, remedy: "delete the pixels" },
    {
      what: "has running imports:",
      names: imports,
      remedy: "abort the imports or wait until they are done",
    },
  ].filter(({ names }) => names.length > 0);
  if (obstacles.length === 0) return;
  const reasons = obstacles.map(({ what, names }) => `${what} ${listed(names)}`).join("; and ");
  const remedies = new Intl.ListFormat("en-GB").format(obstacles.map(({ remedy }) => remedy));
  throw new Problem(
    "cannot-remove-last-owner",
    `${username} ${reasons}. Nothing was removed. First ${remedies}; rotate-token prints a token that ` +
      "you can use for this. You can disable the account with disable-account at any time.",
  );
}

interface Recording {
  account: NamedAccount;
  ownerId: string;
  action: OperatorAction;
  changes?: Record<string, unknown>;
}

async function recordOfOperator(
  client: PoolClient,
  { account, ownerId, action, changes }: Recording,
): Promise<void> {
  const target = { kind: "user", id: account.id, name: account.username } as const;
  await insertAuditEntry(client, { ownerId, by: OPERATOR, action, target, ...(changes && { changes }) });
}

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
    throw new Problem("invalid-body", `The username was not changed: the new name ${message}.`, { errors });
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

/** Answers whether that changed anything. */
async function updateDisabled(
  client: Postgres,
  { accountId, disabled }: { accountId: string; disabled: boolean },
): Promise<boolean> {
  const text = `
    update accounts set disabled_at = case when $2 then now() end
    where id = $1 and (disabled_at is not null) <> $2 returning id`;
  return (await query(client, text, [accountId, disabled])).length > 0;
}

/** Everything that would have no owner, or would break off, without the account. */
interface Belongings {
  organizations: string[];
  packages: string[];
  pixels: string[];
  imports: string[];
}

async function readBelongings(client: Postgres, accountId: string): Promise<Belongings> {
  const text = `
    select
      array(select o.name from memberships m join owners o on o.id = m.organization_id
        where m.account_id = $1 and m.role = 'owner' and not exists (
          select from memberships other
          where other.organization_id = m.organization_id and other.role = 'owner' and other.account_id <> $1
        ) order by o.name_key) as organizations,
      array(select name from packages where owner_id = $1 order by name) as packages,
      array(select name from pixels where owner_id = $1 order by name) as pixels,
      array(select id::text from imports where account_id = $1 and status = 'importing' order by id) as imports`;
  const [row] = await query<Required<Belongings>>(client, text, [accountId]);
  if (row === undefined) throw new Error("a select without a table returned no row");
  return row;
}

/** Serialises changes of the owners of the account's organizations until the transaction ends. */
async function lockOrganizationsOf(client: Postgres, accountId: string): Promise<string[]> {
  const text = `
    select id from owners
    where id in (select organization_id from memberships where account_id = $1) order by id for update`;
  return (await query<{ id: string }>(client, text, [accountId])).map(({ id }) => id);
}

/** Its own log goes with it. Entries in the logs of organizations keep its name. */
async function deleteAccount(
  client: Postgres,
  { id, username }: { id: string; username: string },
): Promise<void> {
  await query(client, "update audit_entries set account_name = $2 where account_id = $1", [id, username]);
  await query(client, "delete from owners where id = $1", [id]);
}
