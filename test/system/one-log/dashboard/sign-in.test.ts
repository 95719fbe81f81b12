import { readFileSync } from "node:fs";
import { STALE_LINK } from "../../../../api/features/accounts/first-account.js";
import type { Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SIGN_IN_FAILED } from "../../../../api/base/identity/failure-limits.js";
import { connectPostgres } from "../../../../deploy/stores/connect-postgres.js";
import type { UserV1 } from "../../../../schemas/contracts/user.js";
import { type Browser, type SeenPage, openBrowser } from "../../../support/dashboard/open-browser.js";
import { type Toolchain, startToolchain } from "../../../support/program/start-toolchain.js";
import { pidsIn } from "../../../support/program/toolchain-process.js";

let toolchain: Toolchain;
let pg: Pool;
/** Everything that must be neither in the database nor in the log. */
const secrets: string[] = [];

beforeAll(async () => {
  // So that each test has an address of its own, and some a prefix.
  toolchain = await startToolchain({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  const url = toolchain.endpoints.postgres ?? "";
  pg = connectPostgres({ url, connectionsMax: 2, log: pino({ level: "silent" }) });
});

afterAll(async () => {
  await pg?.end();
  await toolchain?.close();
});

let addresses = 0;

function browser(headers: Record<string, string> = {}, origin?: string): Browser {
  addresses += 1;
  const forwarded = { "x-forwarded-for": `198.51.100.${addresses}`, ...headers };
  return openBrowser({ url: toolchain.api, headers: forwarded, ...(origin !== undefined && { origin }) });
}

const COOKIE = () => `maintainer-session.${new URL(toolchain.api).port}`;
const pathOf = (link: string) => link.slice(new URL(link).origin.length);
const keyOf = (link: string) => link.split("#key=")[1] ?? "";
/** The texts of a page, with its markup's entities. */
const wordsOf = ({ html }: SeenPage) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

async function linkFor(...username: string[]): Promise<string> {
  const link = await toolchain.admin("sign-in-link", ...username);
  secrets.push(keyOf(link));
  return link;
}

/** As the page's script does: shows what the link is for. */
const openLink = (link: string, into: Browser) =>
  into.post("/dashboard/sign-in/link", { action: "open", key: keyOf(link) });

async function followLink(link: string, into = browser()): Promise<{ seen: SeenPage; into: Browser }> {
  const seen = await into.post("/dashboard/sign-in/link", { action: "sign-in", key: keyOf(link) });
  secrets.push(...into.cookies.values());
  return { seen, into };
}

async function signIn(username: string, secret: string, { into = browser(), to = "" } = {}) {
  const seen = await into.post("/dashboard/sign-in", { action: "sign-in", username, secret, to });
  secrets.push(...into.cookies.values());
  return { seen, into };
}

/** A new account, signed in by a link. */
async function signedIn(username: string) {
  const { token } = await toolchain.newAccount(username);
  secrets.push(token);
  const { into } = await followLink(await linkFor(username));
  return { token, into };
}

const isSignedIn = async (into: Browser) => (await into.get("/dashboard/account")).status === 200;

const statusOf = async (token: string) =>
  (await fetch(`${toolchain.api}/v1/user`, { headers: { authorization: `Bearer ${token}` } })).status;

/** The processes of the embedded ClickHouse. */
function enginesIn(dataDir: string): number[] {
  return pidsIn(dataDir).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("clickhouse-child");
    } catch {
      return false; // gone meanwhile
    }
  });
}

async function actionsOf(username: string): Promise<string[]> {
  const { rows } = await pg.query<{ action: string }>(
    `select e.action from audit_entries e join owners o on o.id = e.owner_id where o.name = $1 order by e.id`,
    [username],
  );
  return rows.map(({ action }) => action);
}

test("the link that the start prints makes the first account, once; to look at it changes nothing", async () => {
  const printed = /http:\/\/127\.0\.0\.1:\d+\/dashboard\/sign-in\/link#key=mtl_[\w-]{43}/;
  await expect.poll(() => toolchain.log()).toMatch(printed);
  const [link = ""] = printed.exec(toolchain.log()) ?? [];
  const into = browser();
  for (let time = 0; time < 2; time += 1)
    expect(wordsOf(await openLink(link, into))).toContain("Create the first account");

  const send = (fields: Record<string, string>) =>
    into.post("/dashboard/sign-in/link", { action: "first-account", key: keyOf(link), ...fields });
  const faulty = await send({ username: "a b", email: "ada@example.org" });
  expect(faulty.status).toBe(422);
  expect(faulty.html).toContain('value="ada@example.org"');

  // The spare one shows that a second link makes no second account.
  const spare = await linkFor();
  const made = await send({ username: "Ada", email: "ada@example.org", organization: "acme" });
  expect([made.status, made.location]).toEqual([303, "/dashboard"]);
  expect(wordsOf(await into.get("/dashboard/account"))).toContain("ada@example.org");
  expect(wordsOf(await openLink(spare, browser()))).toContain(STALE_LINK);
  expect(wordsOf(await openLink(spare, browser()))).not.toContain("Create account");
  for (const key of [keyOf(link), keyOf(spare)]) {
    const fields = { action: "first-account", key, username: "eve", email: "eve@example.org" };
    expect((await into.post("/dashboard/sign-in/link", fields)).status).toBe(401);
  }
  const stale = { action: "first-account", key: keyOf(spare), username: "eve", email: "eve@example.org" };
  expect(wordsOf(await into.post("/dashboard/sign-in/link", stale))).toContain(STALE_LINK);
  expect(await toolchain.admin("list-accounts")).toMatch(
    /^Ada\tada@example\.org\t\S+\tno-export\tacme:owner\tenabled$/m,
  );
  await expect(toolchain.admin("sign-in-link")).rejects.toThrow("Pass the username of the account.");
  expect(await actionsOf("Ada")).toEqual(["account.create", "user.sign-in"]);
  expect(await actionsOf("acme")).toEqual(["organization.create"]);
});

describe("a link", () => {
  test("signs in once, and only by its last button; its secret is in no address", async () => {
    await toolchain.newAccount("bob");
    const link = await linkFor("BOB");
    const into = browser();
    expect(pathOf(link).split("#")[0]).toBe("/dashboard/sign-in/link");
    expect(wordsOf(await into.get("/dashboard/sign-in/link"))).toContain(
      "Paste the whole sign-in link here.",
    );
    const pasted = { action: "open", key: ` ${link}\n` };
    const previews = await Promise.all([openLink(link, into), into.post("/dashboard/sign-in/link", pasted)]);
    expect(previews.map(wordsOf)).toEqual([
      expect.stringContaining("Sign in as bob"),
      expect.stringContaining("Sign in as bob"),
    ]);
    expect(await isSignedIn(into)).toBe(false);
    const both = await Promise.all([followLink(link), followLink(link)]);
    expect(both.map(({ seen }) => seen.status).sort()).toEqual([303, 401]);
    const again = await followLink(link);
    expect(again.seen.status).toBe(401);
    expect(wordsOf(again.seen)).toContain(SIGN_IN_FAILED.link);
    expect(again.into.cookies.size).toBe(0);
  });

  test("is refused after 15 minutes, as one that never was", async () => {
    await toolchain.newAccount("late");
    const link = await linkFor("late");
    await pg.query(
      "update sign_in_links set expires_at = expires_at - interval '15 minutes' where used_at is null",
    );
    const late = await followLink(link);
    const never = await followLink(`http://x/#key=mtl_${"a".repeat(43)}`);
    expect([late.seen.status, never.seen.status]).toEqual([401, 401]);
    expect(wordsOf(late.seen)).toBe(wordsOf(never.seen));
    const opened = await openLink(link, browser());
    expect(opened.status).toBe(401);
    expect(wordsOf(opened)).toContain(SIGN_IN_FAILED.link);
  });

  test("leads where the operator says that the service is", async () => {
    await toolchain.newAccount("far");
    const link = await linkFor("far", "--url", "https://stats.example/tools/");
    expect(link).toMatch(/^https:\/\/stats\.example\/tools\/dashboard\/sign-in\/link#key=mtl_/);
    await expect(toolchain.admin("sign-in-link", "nobody")).rejects.toThrow(
      "The user nobody does not exist.",
    );
  });
});

describe("a username with the API token or the password", () => {
  test("signs in, and leads to the page that was wanted", async () => {
    const { token } = await toolchain.newAccount("carl");
    secrets.push(token);
    const into = browser();
    const away = await into.get("/dashboard/account?country=DE");
    expect(away.location).toBe("/dashboard/sign-in?to=%2Fdashboard%2Faccount%3Fcountry%3DDE");
    const { seen } = await signIn("CARL", token, { into, to: "/dashboard/account?country=DE" });
    expect([seen.status, seen.location]).toEqual([303, "/dashboard/account?country=DE"]);
    expect((await signIn("carl", token, { to: "https://evil.example/" })).seen.location).toBe("/dashboard");
    expect((await signIn("ada", token)).seen.status).toBe(401);
  });

  test("takes a password of 12 characters, first after a link, then after the one before; others are signed out", async () => {
    const { token, into } = await signedIn("dora");
    const { into: other } = await signIn("dora", token);
    const set = (from: Browser, fields: Record<string, string>) =>
      from.post("/dashboard/account", { action: "set-password", ...fields });
    expect((await set(into, { wanted: "elevenchars" })).status).toBe(422);
    expect((await set(into, { wanted: "twelve chars" })).status).toBe(303);
    expect(await isSignedIn(into)).toBe(true);
    expect(await isSignedIn(other)).toBe(false);

    const { into: byPassword, seen } = await signIn("dora", "twelve chars");
    expect(seen.status).toBe(303);
    expect((await set(byPassword, { present: "wrong", wanted: "other twelve" })).status).toBe(422);
    expect((await set(byPassword, { present: "twelve chars", wanted: "other twelve" })).status).toBe(303);
    expect((await signIn("dora", "twelve chars")).seen.status).toBe(401);
    expect((await signIn("dora", "other twelve")).seen.status).toBe(303);
    expect(await actionsOf("dora")).toContain("user.set-password");

    const { into: last } = await signIn("dora", "other twelve");
    const remove = (present: string) =>
      last.post("/dashboard/account", { action: "remove-password", present });
    expect([(await remove("wrong")).status, (await remove("")).status]).toEqual([422, 422]);
    expect((await remove("other twelve")).status).toBe(303);
    expect((await signIn("dora", "other twelve")).seen.status).toBe(401);
    expect((await set(last, { wanted: "third twelve" })).status).toBe(422);
    expect(await actionsOf("dora")).toContain("user.remove-password");
  });

  test("is refused with one sentence for every reason, and with 429 after 30 a minute", async () => {
    await signedIn("emil");
    const guesser = browser();
    const refusals = [
      await signIn("emil", "wrong password", { into: guesser }),
      await signIn("nobody", "wrong password", { into: guesser }),
      await signIn("emil", `mtk_${"a".repeat(43)}`, { into: guesser }),
    ];
    for (const { seen } of refusals) {
      expect(seen.status).toBe(401);
      expect(wordsOf(seen)).toBe(wordsOf(refusals[0]?.seen as SeenPage));
      expect(wordsOf(seen)).toContain(SIGN_IN_FAILED.secret);
    }
    // Tokens: nothing is hashed for them, so that the test takes no time.
    const guess = () => signIn("emil", `mtk_${"b".repeat(43)}`, { into: guesser });
    for (let guessed = 3; guessed < 30; guessed += 1) await guess();
    const { seen } = await guess();
    expect(seen.status).toBe(429);
    expect(Number(seen.headers["retry-after"])).toBeGreaterThan(0);
    expect((await followLink(await linkFor("emil"), guesser)).seen.status).toBe(429);
    expect((await followLink(await linkFor("emil"))).seen.status).toBe(303);
  });

  test("does not take an additional token, which may do less than a session", async () => {
    const { token } = await toolchain.newAccount("finn");
    const body = JSON.stringify({ name: "all", scopes: ["read", "import", "export", "manage"] });
    const headers = { authorization: `Bearer ${token}` };
    const made = await fetch(`${toolchain.api}/v1/user/tokens`, { method: "POST", headers, body });
    const { token: limited } = (await made.json()) as { token: string };
    secrets.push(limited);
    expect((await signIn("finn", limited)).seen.status).toBe(401);
  });

  test("works while ClickHouse does not answer", async () => {
    const { token } = await toolchain.newAccount("gerd");
    const engines = enginesIn(toolchain.dataDir);
    expect(engines.length).toBeGreaterThan(0);
    for (const pid of engines) process.kill(pid, "SIGSTOP");
    try {
      const { seen, into } = await signIn("gerd", token);
      expect(seen.status).toBe(303);
      expect(await isSignedIn(into)).toBe(true);
    } finally {
      for (const pid of engines) process.kill(pid, "SIGCONT");
    }
  });
});

describe("a session", () => {
  test("is a cookie that scripts and other sites cannot use, and ends with sign-out", async () => {
    const { into } = await signedIn("hans");
    expect(into.setCookies).toEqual([
      expect.stringMatching(
        new RegExp(`^${COOKIE()}=mts_[\\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax$`),
      ),
    ]);
    const kept = into.cookies.get(COOKIE()) ?? "";
    const out = await into.post("/dashboard/sign-out", {});
    expect([out.status, out.location]).toEqual([303, "/dashboard/sign-in?notice=signed-out"]);
    expect(into.cookies.size).toBe(0);
    into.cookies.set(COOKIE(), kept);
    expect(await isSignedIn(into)).toBe(false);
    expect((await actionsOf("hans")).slice(-2)).toEqual(["user.sign-in", "user.sign-out"]);
  });

  test("ends everywhere when the token is replaced: by the API, by the operator and on the page", async () => {
    const { token, into } = await signedIn("ines");
    const { into: other } = await signIn("ines", token);
    const headers = { authorization: `Bearer ${token}` };
    const rotated = await fetch(`${toolchain.api}/v1/user/token`, { method: "POST", headers });
    const second = ((await rotated.json()) as { token: string }).token;
    expect([await isSignedIn(into), await isSignedIn(other)]).toEqual([false, false]);

    const { into: third } = await signIn("ines", second);
    const given = await toolchain.admin("rotate-token", "ines");
    expect(await isSignedIn(third)).toBe(false);

    const { into: fourth } = await signIn("ines", given);
    const { into: fifth } = await signIn("ines", given);
    const old = fourth.cookies.get(COOKIE()) ?? "";
    const page = await fourth.post("/dashboard/account", { action: "rotate-token" });
    const [shown = ""] = /mtk_[\w-]{43}/.exec(page.html) ?? [];
    secrets.push(token, second, given, shown, ...fourth.cookies.values());
    expect(await statusOf(given)).toBe(401);
    expect(await statusOf(shown)).toBe(200);
    // This browser goes on, in a session that is another.
    expect([await isSignedIn(fourth), await isSignedIn(fifth)]).toEqual([true, false]);
    const thief = browser();
    thief.cookies.set(COOKIE(), old);
    expect(await isSignedIn(thief)).toBe(false);
  });

  test("ends with all else that came of a leaked token when the operator replaces it", async () => {
    const { token } = await toolchain.newAccount("theo");
    secrets.push(token);
    const { into: thief } = await signIn("theo", token);
    await thief.post("/dashboard/account", { action: "set-password", wanted: "twelve chars" });
    const made = { action: "make-token", name: "theirs", scopes: "manage" };
    const [limited = ""] = /mtk_[\w-]{43}/.exec((await thief.post("/dashboard/account", made)).html) ?? [];
    const link = await linkFor("theo");
    const given = await toolchain.admin("rotate-token", "theo");
    secrets.push(limited, given, ...thief.cookies.values());

    expect((await signIn("theo", "twelve chars")).seen.status).toBe(401);
    expect((await followLink(link)).seen.status).toBe(401);
    expect([await statusOf(token), await statusOf(limited), await statusOf(given)]).toEqual([401, 401, 200]);
    const shown = await thief.post("/dashboard/account", { action: "show-token" });
    expect([shown.status, shown.html.match(/mtk_[\w-]{43}/)]).toEqual([401, null]);
    const { rows } = await pg.query(
      "select changes from audit_entries where action = 'user.rotate-token' and target_name = 'theo'",
    );
    expect(rows).toEqual([{ changes: { password: true, sessions: 1, signInLinks: 1, tokens: ["theirs"] } }]);
  });

  test("of a person who replaces a leaked token goes on alone, without the password and, if asked, limited tokens", async () => {
    const { token, into } = await signedIn("tilda");
    const { into: thief } = await signIn("tilda", token);
    await into.post("/dashboard/account", { action: "set-password", wanted: "twelve chars" });
    expect(await isSignedIn(thief)).toBe(false);
    const made = { action: "make-token", name: "theirs", scopes: "manage" };
    const tokenIn = ({ html }: SeenPage) => /mtk_[\w-]{43}/.exec(html)?.[0] ?? "";
    const limited = tokenIn(await into.post("/dashboard/account", made));
    const first = tokenIn(await into.post("/dashboard/account", { action: "rotate-token" }));
    expect([await statusOf(limited), await statusOf(first)]).toEqual([403, 200]);
    expect((await signIn("tilda", "twelve chars")).seen.status).toBe(401);
    const all = { action: "rotate-token", revokeTokens: "true" };
    const second = tokenIn(await into.post("/dashboard/account", all));
    expect([await statusOf(limited), await statusOf(first), await statusOf(second)]).toEqual([401, 401, 200]);
    expect(await isSignedIn(into)).toBe(true);
    secrets.push(limited, first, second, ...into.cookies.values());
  });

  test("is listed on the account page, which ends others", async () => {
    const { token, into } = await signedIn("jana");
    const { into: other } = await signIn("jana", token);
    const page = await into.get("/dashboard/account");
    expect(wordsOf(page)).toMatch(/198\.51\.100\.0\/24/);
    const ids = [...page.html.matchAll(/name="id" value="([0-9a-f-]{36})"/g)].map(([, id]) => id ?? "");
    expect(ids).toHaveLength(1);
    const foreign = await signedIn("kai");
    const end = (from: Browser) =>
      from.post("/dashboard/account", { action: "end-session", id: ids[0] ?? "" });
    expect((await end(foreign.into)).status).toBe(404);
    expect((await end(into)).status).toBe(303);
    expect([await isSignedIn(into), await isSignedIn(other)]).toEqual([true, false]);
  });

  test("changes nothing for pages of other sites, and nothing at all on the API", async () => {
    const { into } = await signedIn("lars");
    const make = (name: string, headers: Record<string, string>) =>
      into.post(
        "/dashboard/account",
        { action: "make-organization", name, billingEmail: "l@example.org" },
        headers,
      );
    const refused = [
      await make("lars-1", { "sec-fetch-site": "same-site" }),
      await make("lars-2", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }),
      await make("lars-3", { "sec-fetch-site": "", origin: "https://evil.example" }),
      await make("lars-4", { "sec-fetch-site": "", origin: "" }),
      await make("lars-5", { "sec-fetch-site": "", origin: "null" }),
      await into.post("/dashboard/sign-out", {}, { "sec-fetch-site": "same-site" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(await isSignedIn(into)).toBe(true);
    expect((await make("lars-6", { "sec-fetch-site": "" })).status).toBe(303);
    expect(wordsOf(await into.get("/dashboard/account"))).not.toMatch(/lars-[1-5]/);
    expect((await into.get("/v1/user")).status).toBe(401);
    expect((await into.get("/v1/organizations/lars-6")).status).toBe(401);
  });

  test("works at the address of a trusted proxy, with its prefix and over https", async () => {
    const { token } = await toolchain.newAccount("mia");
    const forwarded = {
      "x-forwarded-proto": "https",
      "x-forwarded-host": "stats.example",
      "x-forwarded-prefix": "/tools",
    };
    const into = browser(forwarded, "https://stats.example");
    const away = await into.get("/dashboard/account");
    expect(away.location).toBe("/tools/dashboard/sign-in?to=%2Fdashboard%2Faccount");
    const { seen } = await signIn("mia", token, { into, to: "/dashboard/o/mia" });
    expect([seen.status, seen.location]).toEqual([303, "/tools/dashboard/o/mia"]);
    expect(into.setCookies).toEqual([
      expect.stringMatching(
        /^__Host-maintainer-session\.tools=mts_[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const page = await into.get("/dashboard/account");
    expect(page.html).toContain('action="/tools/dashboard/account"');
    const foreign = await into.post(
      "/dashboard/sign-out",
      {},
      { "sec-fetch-site": "", origin: toolchain.api },
    );
    expect(foreign.status).toBe(403);
  });
});

test("the account page shows the token of the API, and only when asked", async () => {
  const { token, into } = await signedIn("nora");
  expect((await into.get("/dashboard/account")).html).not.toContain("mtk_");
  const asked = await into.post("/dashboard/account", { action: "show-token" });
  const headers = { authorization: `Bearer ${token}` };
  const user = (await (await fetch(`${toolchain.api}/v1/user`, { headers })).json()) as UserV1;
  expect(asked.html).toContain(user.token);
  expect(asked.headers["cache-control"]).toBe("no-store");
  expect((await actionsOf("nora")).at(-1)).toBe("user.show-token");
  expect((await into.get("/dashboard/api/v1/user")).html).not.toContain("mtk_");

  const fields = { action: "make-token", name: "nightly", scopes: "import", owner: "nora" };
  const made = await into.post("/dashboard/account", fields);
  const [limited = ""] = /mtk_[\w-]{43}/.exec(made.html) ?? [];
  secrets.push(limited);
  expect(await statusOf(limited)).toBe(403);
  const [, id = ""] = /name="id" value="([0-9a-f-]{36})"/.exec(made.html) ?? [];
  expect((await into.post("/dashboard/account", { action: "revoke-token", id })).status).toBe(303);
  expect(await statusOf(limited)).toBe(401);
  expect((await into.post("/dashboard/account", { action: "unknown" })).status).toBe(404);
});

test("a disabled account is out at once, and back when it is enabled", async () => {
  const { token, into } = await signedIn("otto");
  const link = await linkFor("otto");
  await toolchain.admin("disable-account", "OTTO");
  expect(await statusOf(token)).toBe(401);
  expect(await isSignedIn(into)).toBe(false);
  expect((await followLink(link)).seen.status).toBe(401);
  expect((await signIn("otto", token)).seen.status).toBe(401);
  await expect(toolchain.admin("sign-in-link", "otto")).rejects.toThrow("otto is disabled");
  expect(await toolchain.admin("list-accounts")).toMatch(/^otto\t.*\texport\t.*\tdisabled$/m);
  await toolchain.admin("enable-account", "otto");
  expect(await statusOf(token)).toBe(200);
  expect(await isSignedIn(into)).toBe(false);
  const byOperator = (await actionsOf("otto")).filter((action) => /^account\.(dis|en)able$/.test(action));
  expect(byOperator).toEqual(["account.disable", "account.enable"]);
});

test("a renamed account keeps its token and sessions; its old name is free, and its logs have both names", async () => {
  const { token, into } = await signedIn("rita");
  const api = toolchain.api;
  const headers = { authorization: `Bearer ${token}` };
  const organization = { name: "r-org", description: "", billingEmail: "r@example.org" };
  await fetch(`${api}/v1/organizations`, { method: "POST", headers, body: JSON.stringify(organization) });
  await toolchain.newAccount("sven");
  const rename = (from: string, to: string) => toolchain.admin("rename-account", from, to);
  await expect(rename("rita", "R-ORG")).rejects.toThrow("The name R-ORG is taken.");
  await expect(rename("rita", "sven")).rejects.toThrow("The name sven is taken.");
  await expect(rename("rita", "r ita")).rejects.toThrow("The username was not changed: the new name must be");
  await expect(rename("nobody", "tess")).rejects.toThrow("The user nobody does not exist.");
  expect(await statusOf(token)).toBe(200);

  expect(await rename("RITA", "Rosa")).toBe("Renamed rita to Rosa.");
  const user = (await (await fetch(`${api}/v1/user`, { headers })).json()) as UserV1;
  expect(user.username).toBe("Rosa");
  expect(await isSignedIn(into)).toBe(true);
  expect((await signIn("rita", token)).seen.status).toBe(401);
  expect((await signIn("rosa", token)).seen.status).toBe(303);
  for (const owner of ["rosa", "r-org"]) {
    const answer = await fetch(`${api}/v2/${owner}/audit?action=account.rename`, { headers });
    expect(await answer.json()).toMatchObject({
      audit_entries: [{ actor: "(operator)", target: { name: "rita" }, changes: { username: "Rosa" } }],
    });
  }
  await rename("rosa", "Rosa");
  await rename("rosa", "rosa");
  // The name is free again.
  await rename("sven", "rita");
});

test("an account is removed when nothing is left without an owner; organizations keep what it did", async () => {
  const api = await toolchain.newAccount("paul");
  const heir = await toolchain.newAccount("quin");
  await api.post("/v1/organizations", { name: "p-org", description: "", billingEmail: "p@example.org" });
  const packages = "/v1/packages";
  const own = await api.request(packages, {
    method: "POST",
    body: JSON.stringify({ name: "p-pack", shortDescription: "" }),
  });
  expect(own.status).toBe(201);
  const { uuid } = (await own.json()) as { uuid: string };
  const refused = toolchain.admin("remove-account", "paul");
  await expect(refused).rejects.toThrow(
    "paul is the last owner of p-org; and owns the packages p-pack. Nothing was removed. First make " +
      "another member an owner and delete the packages; rotate-token prints a token that you can use for this",
  );
  expect(await statusOf(api.token)).toBe(200);

  const team = await api.post<{ uuid: string }>("/v1/organizations/p-org/packages", {
    name: "p-team",
    shortDescription: "",
  });
  await api.pollToDone(
    await api.importBody(`/v2/packages/p-org/${team.uuid}/import`, '{"$time":"2026-11-01"}\n'),
  );

  await api.request(`/v1/packages/${uuid}`, { method: "DELETE" });
  await api.post("/v1/organizations/p-org/users", { username: "quin", role: "owner" });
  await toolchain.admin("delete-account", "paul");
  expect(await statusOf(api.token)).toBe(401);
  expect(await toolchain.admin("list-accounts")).not.toContain("paul");
  interface Log {
    audit_entries: { action: string; actor: string; target: { name: string } }[];
  }
  const { audit_entries: log } = await heir.get<Log>("/v2/p-org/audit");
  expect(log.map(({ action, actor }) => [action, actor])).toEqual([
    ["account.remove", "(operator)"],
    ["members.write", "paul"],
    ["packages.import", "paul"],
    ["packages.create", "paul"],
    ["organization.create", "paul"],
  ]);
  const by = async (actor: string) =>
    (await heir.get<Log>(`/v2/p-org/audit?actor=${actor}`)).audit_entries.length;
  expect([await by("paul"), await by("(operator)")]).toEqual([4, 1]);
  const { event_imports: imports } = await heir.get<{ event_imports: object[] }>("/v2/imports/p-org");
  expect(imports).toMatchObject([{ status: "done", started_by: "(removed)" }]);
  // The name is free again.
  await toolchain.newAccount("paul");
});

test("no secret is in the database or in the log", async () => {
  const known = [...new Set(secrets)].filter((secret) => secret.length > 40);
  expect(known.length).toBeGreaterThan(30);
  const { rows: tables } = await pg.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  const dumps = await Promise.all(
    tables.map(async ({ name }) =>
      JSON.stringify((await pg.query(`select t::text as row from "${name}" t`)).rows),
    ),
  );
  const stored = dumps.join("\n");
  expect(stored).toContain("user.sign-in");
  const asBytes = (secret: string) => Buffer.from(secret).toString("hex");
  expect(
    known.filter((secret) => stored.includes(secret.slice(4)) || stored.includes(asBytes(secret))),
  ).toEqual([]);
  const log = toolchain.log();
  expect(log).toContain("/dashboard/sign-in/link");
  expect(known.filter((secret) => log.includes(secret.slice(4)))).toEqual([]);
  expect(log).not.toContain("twelve chars");
});
