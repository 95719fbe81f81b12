import type { Pool } from "pg";
import { Problem } from "../../../schemas/problem.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import { inTransaction } from "../postgres/connection.js";
import { PASSWORD_LENGTH } from "./passwords.js";
import { type Session, deleteSession, deleteSessionsOf } from "./sessions.js";
import { type Attempting, type SignInDeps, beginSession, recordOwn } from "./sign-in.js";
import { lockTokens, readPasswordByName, updatePassword } from "./stored-accounts.js";

/** How long after a sign-in with a link or the token a password may be set without the present one. */
export const FRESH_MINUTES = 15;

export interface PasswordChange {
  /** Empty if the session is fresh. */
  present: string;
  /** Undefined to remove it. */
  wanted: string | undefined;
}

/**
 * Sets or removes the password of a session's account. Needs the present one, or a session that began with a link or the
 * token within the last `FRESH_MINUTES`. Ends every session and answers the secret of a new one for this browser. Throws
 * `invalid-body`, `rate-limited`, `unavailable` while very many passwords are checked, and `unauthenticated` if the
 * session ended meanwhile: a password must not outlive the token that it was set with.
 */
export async function changePassword(
  deps: SignInDeps,
  { session, present, wanted }: PasswordChange & { session: Session },
  attempting: Attempting,
): Promise<string> {
  if (wanted !== undefined) requireAcceptable(wanted);
  const { pg, tokens, passwords } = deps;
  if (!isFresh(session)) await requirePresent(deps, { session, present, attempting });
  const passwordHash = wanted === undefined ? null : await passwords.hash(wanted, attempting.browser);
  const { account } = session;
  return inTransaction(pg, async (client) => {
    await lockTokens(client, account.id);
    if (!(await deleteSession(client, { accountId: account.id, id: session.id })))
      throw new Problem("unauthenticated", "Your session has ended. Sign in again.");
    await updatePassword(client, { accountId: account.id, passwordHash });
    await deleteSessionsOf(client, account.id);
    const action = passwordHash === null ? "user.remove-password" : "user.set-password";
    await recordOwn(client, { account, requestId: attempting.requestId, action });
    return beginSession({ pg: client, tokens }, { account, method: "password", ...attempting });
  });
}

export function isFresh({ method, createdAt }: Session, now = Date.now()): boolean {
  const isProof = method === "link" || method === "token";
  return isProof && now - createdAt.getTime() < FRESH_MINUTES * 60_000;
}

export async function hasPassword(pg: Pool, { account }: Session): Promise<boolean> {
  const found = await readPasswordByName(pg, account.username);
  return typeof found?.passwordHash === "string";
}

function requireAcceptable(wanted: string): void {
  const { min, max } = PASSWORD_LENGTH;
  if (wanted.length >= min && wanted.length <= max) return;
  throw invalidBody([{ path: "/wanted", message: `must have ${min} to ${max} characters` }]);
}

interface Presenting {
  session: Session;
  present: string;
  attempting: Attempting;
}

/** A wrong password is a fault of the form and not of the session, which stays. */
async function requirePresent(
  { pg, passwords, limits }: SignInDeps,
  { session, present, attempting }: Presenting,
): Promise<void> {
  const { username } = session.account;
  const { address } = attempting.browser;
  try {
    await limits.attempt({ address, username }, () =>
      passwords.check(present, { find: () => readPasswordByName(pg, username), address }),
    );
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "unauthenticated") throw error;
    const message = `is not the current password. Forgot it? Sign in with a link or your API token, and set a new one within ${FRESH_MINUTES} minutes`;
    throw invalidBody([{ path: "/present", message }]);
  }
}
