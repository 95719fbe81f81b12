import type { Pool } from "pg";
import { pino } from "pino";
import type { BrowserContext } from "playwright-core";
import { cookieForm } from "../../../api/http/middleware/session.js";
import { createSession } from "../../../api/identity/sessions.js";
import { createTokenCipher, type TokenCipher } from "../../../api/identity/tokens.js";
import { readAccountByName } from "../../../api/identity/stored-accounts.js";
import { openAdminStores } from "../../../deploy/commands/open-admin-stores.js";
import { connectPostgres } from "../../../deploy/stores/postgres/connect-postgres.js";

interface SignIn {
  /** Of the running program. */
  dataDir: string;
  username: string;
  /** The service as the browser reaches it. */
  base: string;
}

/** Gives the browser a session, as signing in does. */
export async function signIn(context: BrowserContext, { dataDir, username, base }: SignIn): Promise<void> {
  await using stores = await openAdminStores({
    env: { DATA_DIR: dataDir },
    isNew: false,
    note: () => undefined,
  });
  const log = pino({ level: "silent" });
  const pg = connectPostgres({ url: stores.postgresUrl, connectionsMax: 1, log });
  try {
    const tokens = createTokenCipher(stores.secretKey);
    await context.addCookies([await sessionCookie({ pg, tokens }, { username, base })]);
  } finally {
    await pg.end();
  }
}

/** The cookie of a new session of the account, for a browser that reaches the service at `base`. */
export async function sessionCookie(
  { pg, tokens }: { pg: Pool; tokens: TokenCipher },
  { username, base }: Pick<SignIn, "username" | "base">,
) {
  const account = await readAccountByName(pg, username);
  if (account === undefined) throw new Error(`there is no account ${username}`);
  const browser = { userAgent: "Chromium", address: "127.0.0.1" };
  const value = await createSession({ pg, tokens }, { accountId: account.id, method: "link", browser });
  const { name } = cookieForm(base, "session");
  return { name, value, url: base, httpOnly: true, sameSite: "Lax" as const };
}
