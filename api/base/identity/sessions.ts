import { Problem } from "../../../schemas/problem.js";
import { type Postgres, query, utc } from "../postgres/query.js";
import { coarseNetwork } from "./client-address.js";
import { SIGN_IN_FAILED } from "./failure-limits.js";
import { type TokenCipher, looksLike } from "./tokens.js";
import { v7 as uuidv7 } from "uuid";
import type { Account } from "../access/access.js";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

export interface SessionDeps {
  pg: Postgres;
  tokens: TokenCipher;
}

export interface Browser {
  userAgent: string;
  /** The result of `clientAddress`. */
  address: string;
}

/** Answers the cookie's value, which is stored nowhere. Throws `unauthenticated` for a disabled account. */
export async function createSession(
  { pg, tokens }: SessionDeps,
  { accountId, method, browser }: { accountId: string; method: SignInMethod; browser: Browser },
): Promise<string> {
  const secret = tokens.issue("session");
  const userAgent = browser.userAgent.slice(0, USER_AGENT_LENGTH);
  const network = coarseNetwork(browser.address);
  const made = { accountId, secretHash: tokens.hash(secret), method, userAgent, network };
  if ((await insertSession(pg, made)) === undefined)
    throw new Problem("unauthenticated", SIGN_IN_FAILED.secret);
  return secret;
}

const USER_AGENT_LENGTH = 300;

/** Undefined if the secret is wrong, the session ended, or its account is disabled. */
export async function findSession(
  { pg, tokens }: SessionDeps,
  secret: string,
): Promise<SessionBySecret | undefined> {
  if (!looksLike("session", secret)) return undefined;
  const found = await readSessionBySecretHash(pg, tokens.hash(secret));
  return found !== undefined && tokens.matches(secret, found.secretHash) ? found : undefined;
}

/** Throws `unauthenticated` where there is none. */
export function requireSession(session: Session | undefined): Session {
  if (session === undefined) throw new Problem("unauthenticated", "Sign in first.");
  return session;
}

const SIGN_IN_METHODS = ["link", "token", "password", "openid"] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** A session ends this long after its last use, and this long after it began, whichever comes first. */
export const SESSION_DAYS = { idle: 7, whole: 30 } as const;

/** A browser that is signed in. Its account may do what the account's own token may do. */
export interface Session {
  id: string;
  account: Account;
  method: SignInMethod;
  createdAt: Date;
}

interface NewSession {
  accountId: string;
  secretHash: Buffer;
  method: SignInMethod;
  userAgent: string;
  /** The network of the client, such as `203.0.113.0/24`. */
  network: string | undefined;
}

/** More than a person has browsers. A program that signs in each time must not fill the table. */
const SESSIONS_MAX = 100;

/** Undefined if the account is disabled. Its longest unused sessions beyond `SESSIONS_MAX` end. */
async function insertSession(pg: Postgres, made: NewSession): Promise<string | undefined> {
  const text = `
    with surplus as (
      delete from sessions where id in (
        select id from sessions where account_id = $2 order by last_used_at desc, id desc offset $7
      )
    )
    insert into sessions (id, account_id, secret_hash, method, user_agent, network)
    select $1, a.id, $3, $4, $5, $6 from accounts a where a.id = $2 and a.disabled_at is null for share
    returning id`;
  const { accountId, secretHash, method, userAgent, network } = made;
  const values = [uuidv7(), accountId, secretHash, method, userAgent, network ?? null, SESSIONS_MAX - 1];
  const [inserted] = await query<{ id: string }>(pg, text, values);
  return inserted?.id;
}

interface SessionBySecret {
  session: Session;
  secretHash: Buffer;
  /** Whether the last recorded use is at least a minute ago. */
  usedLongAgo: boolean;
}

/** Undefined if there is none, if it ended, or if its account is disabled. */
async function readSessionBySecretHash(
  pg: Postgres,
  secretHash: Buffer,
): Promise<SessionBySecret | undefined> {
  const text = `
    select s.id, s.method, s.created_at as "createdAt", s.secret_hash as "secretHash",
      s.last_used_at < now() - interval '1 minute' as "usedLongAgo",
      a.id as "accountId", o.name as username, a.token_hash as "tokenHash"
    from sessions s join accounts a on a.id = s.account_id join owners o on o.id = a.id
    where s.secret_hash = $1 and a.disabled_at is null and ${IS_ALIVE}`;
  const [row] = await query<SessionRow>(pg, text, [secretHash]);
  if (row === undefined) return undefined;
  const { id, method, createdAt, usedLongAgo, accountId, username, tokenHash } = row;
  const session = { id, method, createdAt, account: { id: accountId, username, tokenHash } };
  return { session, secretHash: row.secretHash, usedLongAgo };
}

interface SessionRow {
  id: string;
  method: SignInMethod;
  createdAt: Date;
  secretHash: Buffer;
  usedLongAgo: boolean;
  accountId: string;
  username: string;
  tokenHash: Buffer;
}

const IS_ALIVE = `
  s.last_used_at > now() - interval '${SESSION_DAYS.idle} days'
  and s.created_at > now() - interval '${SESSION_DAYS.whole} days'`;

/** Only one of several concurrent processes writes. */
export async function updateSessionUsed(pg: Postgres, id: string): Promise<void> {
  const text = `
    update sessions set last_used_at = now() where id = $1 and last_used_at < now() - interval '1 minute'`;
  await query(pg, text, [id]);
}

export interface ListedSession {
  id: string;
  method: SignInMethod;
  userAgent: string;
  network: string | null;
  createdAt: string;
  lastUsedAt: string;
}

/** The sessions that have not ended, last used first. */
export async function listSessions(pg: Postgres, accountId: string): Promise<ListedSession[]> {
  const text = `
    select s.id, s.method, s.user_agent as "userAgent", s.network, ${utc("s.created_at")} as "createdAt",
      ${utc("s.last_used_at")} as "lastUsedAt"
    from sessions s where s.account_id = $1 and ${IS_ALIVE} order by s.last_used_at desc, s.id desc`;
  return query<ListedSession>(pg, text, [accountId]);
}

export async function deleteSession(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<boolean> {
  const text = "delete from sessions where account_id = $1 and id = $2 returning id";
  return (await query(pg, text, [accountId, id])).length > 0;
}

export async function deleteOtherSessions(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<void> {
  await query(pg, "delete from sessions where account_id = $1 and id <> $2", [accountId, id]);
}

/** Answers how many there were, ended ones included. */
export async function deleteSessionsOf(pg: Postgres, accountId: string): Promise<number> {
  return (await query(pg, "delete from sessions where account_id = $1 returning id", [accountId])).length;
}

/** Answers how many had ended. */
export async function deleteEndedSessions(pg: Postgres): Promise<number> {
  return (await query(pg, `delete from sessions s where not (${IS_ALIVE}) returning id`)).length;
}

const MINUTE_MS = 60_000;
const IDS_MAX = 10_000;

/** At most once a minute for each, without delaying the request. A failure is logged. */
export class LastUsed {
  private readonly written = new LRUCache<string, true>({ max: IDS_MAX, ttl: MINUTE_MS });

  constructor(private readonly write: (id: string) => Promise<void>) {}

  note(id: string, log: Logger): void {
    if (this.written.has(id)) return;
    this.written.set(id, true);
    this.write(id).catch((error: unknown) =>
      log.warn({ err: error, id }, "could not save the time of the last use of a token or session"),
    );
  }
}
