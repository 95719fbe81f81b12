import type { Pool, PoolClient } from "pg";
import {
  lockTokens,
  readAccountByEmail,
  readAccountByName,
  readAccountByTokenHash,
  readPasswordByName,
} from "./stored-accounts.js";
import type { User } from "../access/access.js";
import { type RecordAccess, type SignInAction, insertAuditEntry } from "../access/audit-entries.js";
import { coarseNetwork } from "./client-address.js";
import { type Browser, type SignInMethod, createSession } from "./sessions.js";
import { type SignInLink, markSignInLinkUsed, readSignInLink } from "./sign-in-links.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import type { Passwords } from "./passwords.js";
import type { SignInLimits } from "./failure-limits.js";
import { type TokenCipher, looksLike } from "./tokens.js";

export interface SignInDeps {
  pg: Pool;
  tokens: TokenCipher;
  passwords: Passwords;
  limits: SignInLimits;
}

export interface Attempting {
  browser: Browser;
  requestId: string;
  recordAccess?: RecordAccess | undefined;
}

/** The secret is the own API token or the password. Throws `unauthenticated`, `rate-limited` and `unavailable`. */
export function signInBySecret(
  deps: SignInDeps,
  { username, secret }: { username: string; secret: string },
  attempting: Attempting,
): Promise<string> {
  const { address } = attempting.browser;
  const isToken = looksLike("token", secret);
  return deps.limits.attempt(isToken ? { address } : { address, username }, async () => {
    const begun = isToken
      ? await signInByToken(deps, { username, token: secret }, attempting)
      : await signInByPassword(deps, { username, password: secret }, attempting);
    if (begun === undefined)
      recordFailure(deps, { username, method: isToken ? "token" : "password" }, attempting);
    return begun;
  });
}

/** In the background: how long an answer takes must not tell which accounts exist. */
function recordFailure(
  { pg, limits }: SignInDeps,
  { username, method }: { username: string; method: SignInMethod },
  { browser, requestId, recordAccess }: Attempting,
): void {
  recordAccess?.(async () => {
    if ((await limits.recorded.countAttempt(username.toLowerCase())) > 0) return [];
    const account = await readAccountByName(pg, username);
    if (account === undefined) return [];
    const target = { kind: "user", id: account.id, name: account.username } as const;
    const changes = { method, network: coarseNetwork(browser.address) };
    const by = { accountId: undefined, tokenName: undefined, requestId };
    return [{ ownerId: account.id, by, action: "user.sign-in-failed", target, changes }];
  });
}

/** Only the account's own token: an additional one must not become a session, which has no limits. */
async function signInByToken(
  { pg, tokens }: SignInDeps,
  { username, token }: { username: string; token: string },
  attempting: Attempting,
): Promise<string | undefined> {
  const account = await readAccountByTokenHash(pg, tokens.hash(token));
  const isRight =
    account !== undefined &&
    account.limited === undefined &&
    tokens.matches(token, account.tokenHash) &&
    account.username.toLowerCase() === username.toLowerCase();
  if (!isRight) return undefined;
  return inTransaction(pg, async (client) => {
    const current = await lockTokens(client, account.id);
    if (!current?.equals(account.tokenHash)) return undefined;
    return beginSession({ pg: client, tokens }, { account, method: "token", ...attempting });
  });
}

/** A password that is replaced while it is checked must not begin a session after the others were ended. */
async function signInByPassword(
  { pg, tokens, passwords }: SignInDeps,
  { username, password }: { username: string; password: string },
  attempting: Attempting,
): Promise<string | undefined> {
  const { address } = attempting.browser;
  const account = await passwords.check(password, { find: () => readPasswordByName(pg, username), address });
  if (account === undefined) return undefined;
  return inTransaction(pg, async (client) => {
    await lockTokens(client, account.id);
    const current = await readPasswordByName(client, username);
    if (current?.passwordHash !== account.passwordHash) return undefined;
    return beginSession({ pg: client, tokens }, { account, method: "password", ...attempting });
  });
}

/** Uses the link up. Throws `unauthenticated`, also for the first account's link, and `rate-limited`. */
export async function signInByLink(
  { pg, tokens, limits }: SignInDeps,
  secret: string,
  attempting: Attempting,
): Promise<string> {
  return limits.attempt({ address: attempting.browser.address, by: "link" }, () =>
    inTransaction(pg, async (client) => {
      const account = (await usableLink(client, { secret, tokens }))?.account;
      if (!account || !(await markSignInLinkUsed(client, tokens.hash(secret)))) return undefined;
      return beginSession({ pg: client, tokens }, { account, method: "link", ...attempting });
    }),
  );
}

/** A link that can still be used, without using it up. Throws as `signInByLink`. */
export function readLink(
  { pg, tokens, limits }: SignInDeps,
  secret: string,
  { browser: { address } }: Attempting,
): Promise<SignInLink> {
  return limits.attempt({ address, by: "link" }, () => usableLink(pg, { secret, tokens }));
}

export async function usableLink(pg: Postgres, { secret, tokens }: { secret: string; tokens: TokenCipher }) {
  return looksLike("link", secret) ? readSignInLink(pg, tokens.hash(secret)) : undefined;
}

/** Signs in the account of an email address that an OpenID provider has verified. Throws as `signInByLink`. */
export async function signInByEmail(
  { pg, tokens, limits }: SignInDeps,
  verifiedEmail: () => Promise<string | undefined>,
  attempting: Attempting,
): Promise<string> {
  return limits.attempt({ address: attempting.browser.address, by: "openid" }, async () => {
    const email = await verifiedEmail();
    const account = email === undefined ? undefined : await readAccountByEmail(pg, email);
    if (account === undefined) return undefined;
    return inTransaction(pg, (client) =>
      beginSession({ pg: client, tokens }, { account, method: "openid", ...attempting }),
    );
  });
}

interface Beginning extends Attempting {
  account: User;
  method: SignInMethod;
}

/** Begins a session and records it, in the transaction of `pg`. Answers its secret. */
export async function beginSession(
  { pg, tokens }: { pg: PoolClient; tokens: TokenCipher },
  { account, method, browser, requestId }: Beginning,
): Promise<string> {
  const secret = await createSession({ pg, tokens }, { accountId: account.id, method, browser });
  await recordOwn(pg, { account, requestId, action: "user.sign-in", changes: { method } });
  return secret;
}

interface OwnChange {
  account: User;
  requestId: string;
  action: SignInAction;
  changes?: object;
}

/** Writes a change by the account itself to its own audit log. */
export async function recordOwn(
  pg: Postgres,
  { account, requestId, action, changes = {} }: OwnChange,
): Promise<void> {
  const by = { accountId: account.id, tokenName: undefined, requestId };
  const target = { kind: "user", id: account.id, name: account.username } as const;
  await insertAuditEntry(pg, { ownerId: account.id, by, action, target, changes });
}
