import type { Pool, PoolClient } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import { FORMATS, isEmail, isOwnerName } from "../../../schemas/formats.js";
import { type FieldFault, Problem } from "../../../schemas/problem.js";
import {
  type NamedAccount,
  deletePassword,
  deleteSignInLinksOf,
  insertAccount,
  lockTokens,
  newAccountId,
  readAccountByName,
  requireUser,
  updateToken,
} from "./stored-accounts.js";
import type { Account, User } from "../access/access.js";
import { type AuditEntry, type Changed, insertAuditEntry } from "../access/audit-entries.js";
import { deleteApiTokensOf } from "./api-tokens.js";
import { deleteSessionsOf } from "./sessions.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import type { TokenCipher } from "./tokens.js";

export interface AccountDeps {
  pg: Pool;
  tokens: TokenCipher;
}

export interface TokenRoutesDeps extends AccountDeps {
  /** Called with every new token, once it is valid. */
  onIssued?: ((token: string) => void) | undefined;
}

/** Answers its token. Throws `invalid-body` and `already-exists`. */
export async function createAccount(
  { pg, tokens }: AccountDeps,
  { username, email }: { username: string; email: string },
): Promise<string> {
  const { token } = await inTransaction(pg, (client) => addAccount(client, { tokens, username, email }));
  return token;
}

interface Adding {
  tokens: TokenCipher;
  username: string;
  email: string;
  /** The request by which the account makes itself; absent for the operator. */
  requestId?: string;
}

export async function addAccount(
  client: PoolClient,
  { tokens, username, email, requestId }: Adding,
): Promise<User & { token: string }> {
  requireSound({ username, email });
  const id = newAccountId();
  const token = tokens.issue();
  const sealed = { tokenHash: tokens.hash(token), tokenCiphertext: tokens.seal(token, id) };
  await insertAccount(client, { id, username, email, ...sealed });
  const by = requestId === undefined ? OPERATOR : { accountId: id, tokenName: undefined, requestId };
  const made = { ...entryOf({ id, username }), changes: { username, email } };
  await insertAuditEntry(client, { ...made, by, action: "account.create" });
  return { id, username, token };
}

/** Everything by which the holder of the old token may have gone on. */
export interface Ended {
  password: boolean;
  sessions: number;
  signInLinks: number;
  /** The names of additional tokens. */
  tokens: string[];
}

/** For the operator: additional tokens end as well. Sign-in with OpenID stays. Throws `unknown-user`. */
export async function rotateToken(
  { pg, tokens }: AccountDeps,
  username: string,
): Promise<{ token: string; ended: Ended }> {
  return inTransaction(pg, async (client) => {
    const account = await requireAccount(client, username);
    await lockTokens(client, account.id);
    const given = await giveToken(client, { id: account.id, tokens, revokeTokens: true });
    const entry: AuditEntry = { ...entryOf(account, given.ended), by: OPERATOR, action: "user.rotate-token" };
    await insertAuditEntry(client, entry);
    return given;
  });
}

/** Throws `unknown-user`. */
export async function requireAccount(pg: Postgres, username: string): Promise<NamedAccount> {
  const account = await readAccountByName(pg, username);
  if (account === undefined) throw new Problem("unknown-user", `The user ${username} does not exist.`);
  return account;
}

interface Rotating {
  account: Account;
  revokeTokens: boolean;
  record: (client: PoolClient, changed: Changed) => Promise<void>;
}

/** As `rotateToken`, for the account itself. Only one of concurrent requests succeeds. Throws `unauthenticated`. */
export async function rotateOwnToken(
  { pg, tokens }: AccountDeps,
  { account, revokeTokens, record }: Rotating,
): Promise<string> {
  return inTransaction(pg, async (client) => {
    await requireOwnToken(client, account);
    const { token, ended } = await giveToken(client, { id: account.id, tokens, revokeTokens });
    await record(client, entryOf(account, ended));
    return token;
  });
}

/** For a page: the account's own token, recorded. Throws `unauthenticated` if it was replaced since the page was asked for. */
export async function showToken(
  { pg, tokens }: AccountDeps,
  { account, requestId }: { account: Account; requestId: string },
): Promise<string> {
  return inTransaction(pg, async (client) => {
    await requireOwnToken(client, account);
    const by = { accountId: account.id, tokenName: undefined, requestId };
    await insertAuditEntry(client, { ...entryOf(account), by, action: "user.show-token" });
    return tokens.open((await requireUser(client, account.id)).tokenCiphertext, account.id);
  });
}

/** Locks the account's tokens: one that was replaced meanwhile cannot make others. Throws `unauthenticated`. */
export async function requireOwnToken(client: PoolClient, { id, tokenHash }: Account): Promise<void> {
  const current = await lockTokens(client, id);
  if (current?.equals(tokenHash)) return;
  throw new Problem("unauthenticated", "This token has already been rotated. Use the new token.");
}

interface Giving {
  id: string;
  tokens: TokenCipher;
  revokeTokens: boolean;
}

/** Links end before sessions: a sign-in by one that is under way has ended, or finds its link gone. */
async function giveToken(
  client: PoolClient,
  { id, tokens, revokeTokens }: Giving,
): Promise<{ token: string; ended: Ended }> {
  const token = tokens.issue();
  await updateToken(client, { id, tokenHash: tokens.hash(token), tokenCiphertext: tokens.seal(token, id) });
  const ended = {
    signInLinks: await deleteSignInLinksOf(client, id),
    sessions: await deleteSessionsOf(client, id),
    password: await deletePassword(client, id),
    tokens: revokeTokens ? await deleteApiTokensOf(client, id) : [],
  };
  return { token, ended };
}

function entryOf({ id, username }: Pick<Account, "id" | "username">, changes: object = {}): Changed {
  return { ownerId: id, target: { kind: "user", id, name: username }, changes };
}

function requireSound({ username, email }: { username: string; email: string }): void {
  const faults: FieldFault[] = [];
  if (!isOwnerName(username)) faults.push({ path: "/username", message: FORMATS["owner-name"].sentence });
  if (!isEmail(email)) faults.push({ path: "/email", message: FORMATS["e-mail"].sentence });
  if (faults.length === 0) return;
  const sentences = faults.map(({ path, message }) => `${path.slice(1)} ${message}`);
  throw new Problem("invalid-body", `The account was not created: ${sentences.join("; ")}.`, {
    errors: faults,
  });
}
