import type { Pool, PoolClient } from "pg";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { AccountDeps } from "../../../../api/base/identity/accounts.js";
import { switchAccount } from "../../../../api/features/accounts/administer-accounts.js";
import type { Passwords } from "../../../../api/base/identity/passwords.js";
import {
  createSession,
  findSession,
  deleteEndedSessions,
  listSessions,
} from "../../../../api/base/identity/sessions.js";
import { makeSignInLink } from "../../../../api/base/identity/sign-in-links.js";
import { SignInLimits } from "../../../../api/base/identity/failure-limits.js";
import {
  signInByEmail,
  signInByLink,
  signInBySecret,
  type SignInDeps,
} from "../../../../api/base/identity/sign-in.js";
import { readAccountByName, updatePassword } from "../../../../api/base/identity/stored-accounts.js";
import { openBrowser } from "../../../support/dashboard/open-browser.js";
import { serveApi } from "../../../support/api/management-api.js";
import { api, postgres, useApi } from "../../../support/api/use-world.js";

let deps: AccountDeps;

useApi();

beforeAll(() => void (deps = { pg: postgres.pg, tokens: api.tokens }));

const BROWSER = { userAgent: "Mozilla/5.0 (X11; Linux x86_64)", address: "203.0.113.77" };

async function signedIn(username: string) {
  const token = await api.account(username);
  const { id } = (await readAccountByName(postgres.pg, username))!;
  const begin = () => createSession(deps, { accountId: id, method: "token", browser: BROWSER });
  return { token, id, begin, secret: await begin() };
}

test("a session is found by its secret until it was idle for 7 days or is 30 days old", async () => {
  const { id, secret } = await signedIn("ada");
  const found = await findSession(deps, secret);
  expect(found?.session).toMatchObject({ method: "token", account: { id, username: "ada" } });
  expect(found?.usedLongAgo).toBe(false);
  expect(await listSessions(postgres.pg, id)).toMatchObject([{ network: "203.0.113.0/24" }]);

  const age = (column: string, interval: string) =>
    postgres.pg.query(`update sessions set ${column} = now() - $2::interval where account_id = $1`, [
      id,
      interval,
    ]);
  await age("last_used_at", "6 days 23 hours");
  expect((await findSession(deps, secret))?.usedLongAgo).toBe(true);
  await age("last_used_at", "7 days");
  expect(await findSession(deps, secret)).toBeUndefined();
  await age("last_used_at", "0");
  await age("created_at", "30 days");
  expect(await findSession(deps, secret)).toBeUndefined();
  expect(await listSessions(postgres.pg, id)).toEqual([]);
  expect(await deleteEndedSessions(postgres.pg)).toBe(1);
});

test("the database does not have the secret", async () => {
  const { id, secret } = await signedIn("bob");
  const { rows } = await postgres.pg.query(
    "select sessions::text as row from sessions where account_id = $1",
    [id],
  );
  expect(JSON.stringify(rows)).not.toContain(secret.slice(4, 12));
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString("hex"));
});

test("a new token for the account ends every session of it, and no other's", async () => {
  const other = await signedIn("carl");
  const { token, secret, begin } = await signedIn("dora");
  const second = await begin();
  expect((await api.call(token, "POST /v1/user/token")).status).toBe(200);
  expect(await findSession(deps, secret)).toBeUndefined();
  expect(await findSession(deps, second)).toBeUndefined();
  expect(await findSession(deps, other.secret)).toBeDefined();
});

test("a session that began while its account was being disabled is not found", async () => {
  const { id, secret } = await signedIn("gus");
  const set = (at: string) =>
    postgres.pg.query(`update accounts set disabled_at = ${at} where id = $1`, [id]);
  await set("now()");
  expect(await findSession(deps, secret)).toBeUndefined();
  await set("null");
  expect(await findSession(deps, secret)).toBeDefined();
});

test("the API never takes a session: neither as a cookie nor as a token", async () => {
  const { secret } = await signedIn("eve");
  const cookie = `maintainer-session.${new URL(api.url).port}=${secret}`;
  for (const headers of [{ cookie }, { cookie, authorization: `Bearer ${secret}` }]) {
    const answer = await fetch(`${api.url}/v1/user`, { headers });
    expect(answer.status).toBe(401);
  }
});

test("an account of very many sessions keeps the hundred that were used last", async () => {
  const { id, begin } = await signedIn("fay");
  for (let made = 1; made < 103; made += 1) await begin();
  expect(await listSessions(postgres.pg, id)).toHaveLength(100);
});

test("a session that is used does not become idle", async () => {
  const { id, secret } = await signedIn("nia");
  const used = `update sessions set last_used_at = now() - interval '6 days' where account_id = $1`;
  await postgres.pg.query(used, [id]);
  const cookie = `maintainer-session.${new URL(api.url).port}=${secret}`;
  expect((await fetch(`${api.url}/dashboard/api/v1/user`, { headers: { cookie } })).status).toBe(200);
  await expect.poll(async () => (await findSession(deps, secret))?.usedLongAgo).toBe(false);
});

test("after thirty wrong cookies or links an address is refused before the database is asked; its sessions go on", async () => {
  const { secret } = await signedIn("ike");
  await using served = await serveApi({ pg: postgres.pg });
  const open = (value: string) => {
    const browser = openBrowser({ url: served.url });
    browser.cookies.set(`maintainer-session.${new URL(served.url).port}`, value);
    return browser.get("/dashboard/account");
  };
  const follow = () => {
    const fields = { action: "open", key: served.tokens.issue("link") };
    return openBrowser({ url: served.url }).post("/dashboard/sign-in/link", fields);
  };
  expect((await open(secret)).status).toBe(200);
  // A page that goes on to ask with one cookie counts once.
  const stale = served.tokens.issue("session");
  for (let count = 0; count < 31; count += 1) expect((await open(stale)).status).toBe(303);
  for (let count = 1; count < 30; count += 1) {
    expect((await open(served.tokens.issue("session"))).status).toBe(303);
    expect((await follow()).status).toBe(401);
  }
  expect((await follow()).status).toBe(401);

  using query = vi.spyOn(postgres.pg, "query");
  for (const refused of [await open(served.tokens.issue("session")), await follow()]) {
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.html).toMatch(/Try again in \d+ s\./);
  }
  expect((await open(stale)).status).toBe(303);
  expect(query).not.toHaveBeenCalled();
  expect((await open(secret)).status).toBe(200);
});

test("a browser that signs in anew leaves its session behind", async () => {
  const { secret, token } = await signedIn("hal");
  const browser = openBrowser({ url: api.url });
  browser.cookies.set(`maintainer-session.${new URL(api.url).port}`, secret);
  await browser.post("/dashboard/sign-in", { username: "hal", secret: token });
  expect(browser.setCookies).toHaveLength(1);
  expect(await findSession(deps, secret)).toBeUndefined();
});

describe("nobody signs in", () => {
  const attempting = { browser: BROWSER, requestId: "request" };

  /** The deps of a sign-in in whose middle, right before a statement like this, something else happens. */
  function interrupted(statement: RegExp, happens: () => Promise<unknown>): SignInDeps {
    const { pg } = postgres;
    const connect = async () => {
      const client = await pg.connect();
      const query = async (text: string, values?: unknown[]) => {
        if (statement.test(text)) await happens();
        return client.query(text, values);
      };
      return Object.assign(Object.create(client) as PoolClient, { query });
    };
    const interruptedPg = { connect, query: pg.query.bind(pg) } as unknown as Pool;
    return { ...deps, pg: interruptedPg, passwords: KNOWS_ALL, limits: new SignInLimits() };
  }

  /** Takes every password of an account that has one. */
  const KNOWS_ALL = {
    check: async (_, { find }) => {
      const found = await find();
      return found?.passwordHash ? found : undefined;
    },
  } as Passwords;

  const sessionsOf = async (id: string) => (await listSessions(postgres.pg, id)).length;

  test("under a name that nobody has, and its password is hashed like any other", async () => {
    const found: unknown[] = [];
    const check: Passwords["check"] = async (_, { find }) => void found.push(await find());
    const passwords = { check } as Passwords;
    const guessed = { ...interrupted(/^never$/, () => Promise.resolve()), passwords };
    const signIn = signInBySecret(guessed, { username: "no-such-name", secret: "x" }, attempting);
    await expect(signIn).rejects.toMatchObject({ code: "unauthenticated" });
    expect(found).toEqual([undefined]);
  });

  test("with a token that is replaced meanwhile", async () => {
    const { id, token } = await signedIn("ian");
    const racing = interrupted(/^begin$/, () => api.call(token, "POST /v1/user/token"));
    const signIn = signInBySecret(racing, { username: "ian", secret: token }, attempting);
    await expect(signIn).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await sessionsOf(id)).toBe(0);
  });

  test("with a password that is replaced meanwhile", async () => {
    const { id } = await signedIn("jon");
    const setPassword = (passwordHash: string) =>
      updatePassword(postgres.pg, { accountId: id, passwordHash });
    await setPassword("one");
    const racing = interrupted(/^begin$/, () => setPassword("another"));
    const signIn = signInBySecret(racing, { username: "jon", secret: "one" }, attempting);
    await expect(signIn).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await sessionsOf(id)).toBe(1);
  });

  test("as an account that is disabled meanwhile, in any way: once enabled it has no session", async () => {
    const { id } = await signedIn("kim");
    const link = await makeSignInLink(deps, "kim");
    const racing = interrupted(/insert into sessions/, () =>
      switchAccount(postgres.pg, { username: "kim", disabled: true }),
    );
    const ways = [
      () => signInByEmail(racing, () => Promise.resolve("kim@example.org"), attempting),
      () => signInByLink(racing, link, attempting),
    ];
    for (const way of ways) {
      await expect(way()).rejects.toMatchObject({ code: "unauthenticated" });
      await switchAccount(postgres.pg, { username: "kim", disabled: false });
      expect(await sessionsOf(id)).toBe(0);
    }
  });

  test("with a password after 30 wrong ones for the name, from whichever addresses", async () => {
    const { id } = await signedIn("lea");
    const guesses = interrupted(/^never$/, () => Promise.resolve());
    for (let guess = 0; guess < 30; guess += 1) {
      const browser = { ...BROWSER, address: `198.51.100.${guess}` };
      const wrong = signInBySecret(guesses, { username: "LEA", secret: "x" }, { ...attempting, browser });
      await expect(wrong).rejects.toMatchObject({ code: "unauthenticated" });
    }
    await updatePassword(postgres.pg, { accountId: id, passwordHash: "one" });
    const right = signInBySecret(guesses, { username: "lea", secret: "one" }, attempting);
    await expect(right).rejects.toMatchObject({ code: "rate-limited" });
  });
});
