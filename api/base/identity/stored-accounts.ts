import { v7 as uuidv7 } from "uuid";
import { Problem } from "../../../schemas/problem.js";
import { withoutNulls } from "../../../schemas/formats.js";
import type { Account, LimitedToken, User } from "../access/access.js";
import { type Postgres, query, readCount, utc, violates } from "../postgres/query.js";

export interface NewAccount {
  id: string;
  username: string;
  email: string;
  tokenHash: Buffer;
  tokenCiphertext: Buffer;
}

/** The id is made before the row, because the token is sealed for it. */
export function newAccountId(): string {
  return uuidv7();
}

/** Throws `already-exists` if the name or the address is taken. */
export async function insertAccount(pg: Postgres, account: NewAccount): Promise<void> {
  const text = `
    with owner as (insert into owners (id, kind, name) values ($1, 'user', $2) returning id)
    insert into accounts (id, email, token_hash, token_ciphertext) select id, $3, $4, $5 from owner`;
  const { id, username, email, tokenHash, tokenCiphertext } = account;
  try {
    await query(pg, text, [id, username, email, tokenHash, tokenCiphertext]);
  } catch (error) {
    if (violates(error, "owners_name_taken")) throw taken(`The name ${username}`, error);
    if (violates(error, "accounts_email_taken")) throw taken(`The email address ${email}`, error);
    throw error;
  }
}

export interface AccountByToken extends Account {
  /** Whether the last recorded use is at least a minute ago; false for the account's own token. */
  usedLongAgo: boolean;
}

/** Finds the account by its own token or an additional one that has not expired. A disabled account is not found. */
export async function readAccountByTokenHash(
  pg: Postgres,
  tokenHash: Buffer,
): Promise<AccountByToken | undefined> {
  const text = `
    select a.id, o.name as username, found.token_hash as "tokenHash", found.limited, found."usedLongAgo"
    from (
      select id as account_id, token_hash, null::jsonb as limited, false as "usedLongAgo"
      from accounts where token_hash = $1
      union all
      select account_id, token_hash,
        jsonb_build_object('id', id, 'name', name, 'scopes', scopes, 'ownerId', owner_id),
        last_used_at is null or last_used_at < now() - interval '1 minute'
      from api_tokens where token_hash = $1 and (expires_at is null or expires_at > now())
    ) found
    join accounts a on a.id = found.account_id
    join owners o on o.id = a.id
    where a.disabled_at is null`;
  const [row] = await query<AccountRow>(pg, text, [tokenHash]);
  return row && { ...row, limited: row.limited ? withoutNulls<LimitedToken>(row.limited) : undefined };
}

interface AccountRow extends Omit<AccountByToken, "limited"> {
  limited: { [Field in keyof LimitedToken]: LimitedToken[Field] | null } | null;
}

/** Until the transaction ends. Answers the hash of the account's own token. */
export async function lockTokens(client: Postgres, accountId: string): Promise<Buffer | undefined> {
  await query(client, "select from owners where id = $1 for update", [accountId]);
  const text = `select token_hash as "tokenHash" from accounts where id = $1`;
  const [row] = await query<{ tokenHash: Buffer }>(client, text, [accountId]);
  return row?.tokenHash;
}

export interface UserRow {
  username: string;
  email: string;
  createdAt: string;
  exportEnabled: boolean;
  tokenCiphertext: Buffer;
}

export async function requireUser(pg: Postgres, accountId: string): Promise<UserRow> {
  const text = `
    select o.name as username, a.email, ${utc("a.created_at")} as "createdAt", o.export_enabled as "exportEnabled",
      a.token_ciphertext as "tokenCiphertext"
    from accounts a join owners o on o.id = a.id where a.id = $1`;
  const [user] = await query<UserRow>(pg, text, [accountId]);
  if (user === undefined) throw new Error("an account vanished between two statements");
  return user;
}

export interface NamedAccount extends User {
  disabled: boolean;
}

export async function readAccountByName(pg: Postgres, username: string): Promise<NamedAccount | undefined> {
  if (username.includes("\0")) return undefined;
  const text = `
    select a.id, o.name as username, a.disabled_at is not null as disabled
    from accounts a join owners o on o.id = a.id where o.name_key = lower($1 collate "C")`;
  const [account] = await query<NamedAccount>(pg, text, [username]);
  return account;
}

/** Throws `already-exists` if the name is taken. */
export async function updateUsername(
  client: Postgres,
  { accountId, username }: { accountId: string; username: string },
): Promise<void> {
  try {
    await query(client, "update owners set name = $2 where id = $1", [accountId, username]);
  } catch (error) {
    if (violates(error, "owners_name_taken")) throw taken(`The name ${username}`, error);
    throw error;
  }
}

/** An account that is not disabled, with its password as a PHC string, if it has one. */
export interface AccountWithPassword extends User {
  passwordHash: string | null;
}

export async function readPasswordByName(
  pg: Postgres,
  username: string,
): Promise<AccountWithPassword | undefined> {
  if (username.includes("\0")) return undefined;
  const text = `
    select a.id, o.name as username, a.password_hash as "passwordHash"
    from accounts a join owners o on o.id = a.id
    where o.name_key = lower($1 collate "C") and a.disabled_at is null`;
  const [account] = await query<AccountWithPassword>(pg, text, [username]);
  return account;
}

export async function updatePassword(
  pg: Postgres,
  { accountId, passwordHash }: { accountId: string; passwordHash: string | null },
): Promise<void> {
  await query(pg, "update accounts set password_hash = $2 where id = $1", [accountId, passwordHash]);
}

/** Answers whether there was one. */
export async function deletePassword(pg: Postgres, accountId: string): Promise<boolean> {
  const text = `
    update accounts set password_hash = null where id = $1 and password_hash is not null returning id`;
  return (await query(pg, text, [accountId])).length > 0;
}

/** Answers how many of its sign-in links could still be used. */
export async function deleteSignInLinksOf(pg: Postgres, accountId: string): Promise<number> {
  const text = `
    delete from sign_in_links
    where account_id = $1 and used_at is null and expires_at > now() returning id`;
  return (await query(pg, text, [accountId])).length;
}

/** The account of an email address in any case, unless it is disabled. */
export async function readAccountByEmail(pg: Postgres, email: string): Promise<User | undefined> {
  if (email.includes("\0")) return undefined;
  const text = `
    select a.id, o.name as username from accounts a join owners o on o.id = a.id
    where a.email_key = lower($1 collate "C") and a.disabled_at is null`;
  const [account] = await query<User>(pg, text, [email]);
  return account;
}

/** The old token is invalid from this statement on. */
export async function updateToken(
  pg: Postgres,
  { id, tokenHash, tokenCiphertext }: Pick<NewAccount, "id" | "tokenHash" | "tokenCiphertext">,
): Promise<void> {
  const text = `
    update accounts set token_hash = $2, token_ciphertext = $3, token_made_at = now() where id = $1`;
  await query(pg, text, [id, tokenHash, tokenCiphertext]);
}

function taken(what: string, cause: unknown): Problem {
  return new Problem("already-exists", `${what} is taken.`, { cause });
}

/** Serialises the making of first accounts until the transaction ends. */
export async function lockFirstAccount(client: Postgres): Promise<void> {
  await query(client, "select pg_advisory_xact_lock(hashtextextended('the first account', 0))");
}

export function countAccounts(pg: Postgres): Promise<number> {
  return readCount(pg, "select count(*)::int from accounts");
}
