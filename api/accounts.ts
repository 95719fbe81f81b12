import { isEmail, isOwnerName, FORMATS } from "../schemas/formats.js";
import { Problem, type FieldFault } from "../schemas/problem.js";
import { insertAccount, newAccountId, readAccountByName, updateToken } from "./stores/accounts.js";
import type { Postgres } from "./stores/query.js";
import type { TokenCipher } from "./tokens.js";

interface AccountDeps {
  pg: Postgres;
  tokens: TokenCipher;
}

/** Makes an account and answers its token. Throws `invalid-body` and `already-exists`. */
export async function createAccount(
  { pg, tokens }: AccountDeps,
  { username, email }: { username: string; email: string },
): Promise<string> {
  requireSound({ username, email });
  const id = newAccountId();
  const token = tokens.issue();
  const sealed = { tokenHash: tokens.hash(token), tokenCiphertext: tokens.seal(token, id) };
  await insertAccount(pg, { id, username, email, ...sealed });
  return token;
}

/** Gives the account a new token, which is answered; the old one is invalid at once. Throws `unknown-user`. */
export async function rotateToken({ pg, tokens }: AccountDeps, username: string): Promise<string> {
  const account = await readAccountByName(pg, username);
  if (account === undefined) throw new Problem("unknown-user", `There is no user ${username}.`);
  const token = tokens.issue();
  const sealed = { tokenHash: tokens.hash(token), tokenCiphertext: tokens.seal(token, account.id) };
  await updateToken(pg, { id: account.id, ...sealed });
  return token;
}

function requireSound({ username, email }: { username: string; email: string }): void {
  const faults: FieldFault[] = [];
  if (!isOwnerName(username)) faults.push({ path: "/username", message: FORMATS["owner-name"].sentence });
  if (!isEmail(email)) faults.push({ path: "/email", message: FORMATS["e-mail"].sentence });
  if (faults.length === 0) return;
  const sentences = faults.map(({ path, message }) => `${path.slice(1)} ${message}`);
  throw new Problem("invalid-body", `No account was made: ${sentences.join("; ")}.`, { errors: faults });
}
