import { pino } from "pino";
import type { BrowserContext } from "playwright-core";
import { cookieForm } from "../../../api/identity/session-cookie.js";
import { createSession } from "../../../api/identity/sessions.js";
import { createTokenCipher } from "../../../api/identity/tokens.js";
import { readAccountByName } from "../../../api/stores/accounts/accounts.js";
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
  await using stores = await openAdminStores({ DATA_DIR: dataDir });
  const log = pino({ level: "silent" });
  const pg = connectPostgres({ url: stores.postgresUrl, connectionsMax: 1, log });
  try {
    const account = await readAccountByName(pg, username);
    if (account === undefined) throw new Error(`there is no account ${username}`);
    const deps = { pg, tokens: createTokenCipher(stores.secretKey) };
    const browser = { userAgent: "Chromium", address: "127.0.0.1" };
    const value = await createSession(deps, { accountId: account.id, method: "link", browser });
    const { name } = cookieForm(base, "session");
    await context.addCookies([{ name, value, url: base, httpOnly: true, sameSite: "Lax" }]);
  } finally {
    await pg.end();
  }
}
