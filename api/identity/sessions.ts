import { Problem } from "../../schemas/problem.js";
import {
  insertSession,
  readSessionBySecretHash,
  type SessionBySecret,
  type SignInMethod,
} from "./stored-sessions.js";
import type { Postgres } from "../postgres/query.js";
import { SIGN_IN_FAILED } from "./sign-in-limits.js";
import { looksLike, type TokenCipher } from "./tokens.js";

export interface SessionDeps {
  pg: Postgres;
  tokens: TokenCipher;
}

/** The browser that signs in. */
export interface Browser {
  userAgent: string;
  /** The result of `clientAddress`. */
  address: string;
}

/**
 * Begins a session and answers its secret, the value of the cookie. The secret is nowhere else. Throws
 * `unauthenticated` for an account that was disabled meanwhile.
 */
export async function createSession(
  { pg, tokens }: SessionDeps,
  { accountId, method, browser }: { accountId: string; method: SignInMethod; browser: Browser },
): Promise<string> {
  const secret = tokens.issue("session");
  const userAgent = browser.userAgent.slice(0, USER_AGENT_LENGTH);
  const network = coarseNetwork(browser.address);
  const made = { accountId, secretHash: tokens.hash(secret), method, userAgent, network };
  if ((await insertSession(pg, made)) === undefined) throw new Problem("unauthenticated", SIGN_IN_FAILED);
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

/**
 * The network that a person recognises a session by: `203.0.113.0/24` or `2001:db8:1::/48`. Undefined for an unknown
 * address.
 */
export function coarseNetwork(address: string): string | undefined {
  if (address === "unknown") return undefined;
  const isIPv4 = !address.includes(":");
  return isIPv4
    ? `${address.split(".", 3).join(".")}.0/24`
    : `${address.split(":").slice(0, 3).join(":")}::/48`;
}
