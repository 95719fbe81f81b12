import { v7 as uuidv7 } from "uuid";
import { Problem } from "../../schemas/problem.js";
import { query, utc, violates, type Postgres } from "./query.js";

/** Who is calling. */
export interface Account {
  id: string;
  username: string;
}

export interface NewAccount {
  id: string;
  username: string;
  email: string;
  tokenHash: Buffer;
  tokenCiphertext: Buffer;
}

/** An account's id is made before the row: its token is sealed for that id. */
export function newAccountId(): string {
  return uuidv7();
}

/** Throws `already-exists` when the name or the address is taken. */
export async function insertAccount(pg: Postgres, account: NewAccount): Promise<void> {
  const text = `
    with owner as (insert into owners (id, kind, name) values ($1, 'user', $2) returning id)
    insert into accounts (id, email, token_hash, token_ciphertext) select id, $3, $4, $5 from owner`;
  const { id, username, email, tokenHash, tokenCiphertext } = account;
  try {
    await query(pg, text, [id, username, email, tokenHash, tokenCiphertext]);
  } catch (error) {
    if (violates(error, "owners_name_taken")) throw taken(`The name ${username}`, error);
    if (violates(error, "accounts_email_taken")) throw taken(`The e-mail address ${email}`, error);
    throw error;
  }
}

export interface AccountByToken extends Account {
  tokenHash: Buffer;
}

export async function readAccountByTokenHash(
  pg: Postgres,
  tokenHash: Buffer,
): Promise<AccountByToken | undefined> {
  const text = `
    select a.id, o.name as username, a.token_hash as "tokenHash"
    from accounts a join owners o on o.id = a.id where a.token_hash = $1`;
  const [account] = await query<AccountByToken>(pg, text, [tokenHash]);
  return account;
}

export async function readAccountByName(pg: Postgres, username: string): Promise<Account | undefined> {
  const text = `
    select a.id, o.name as username
    from accounts a join owners o on o.id = a.id where o.name_key = lower($1 collate "C")`;
  const [account] = await query<Account>(pg, text, [username]);
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

export interface ListedAccount {
  username: string;
  email: string;
  createdAt: string;
  exportEnabled: boolean;
}

export async function listAccounts(pg: Postgres): Promise<ListedAccount[]> {
  const text = `
    select o.name as username, a.email, ${utc("a.created_at")} as "createdAt", o.export_enabled as "exportEnabled"
    from accounts a join owners o on o.id = a.id order by o.name_key`;
  return query<ListedAccount>(pg, text);
}

function taken(what: string, cause: unknown): Problem {
  return new Problem("already-exists", `${what} is taken.`, { cause });
}

export async function countAccounts(pg: Postgres): Promise<number> {
  const [counted] = await query<{ accounts: number }>(pg, "select count(*)::int as accounts from accounts");
  return counted?.accounts ?? 0;
}
