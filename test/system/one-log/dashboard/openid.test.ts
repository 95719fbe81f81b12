import { afterAll, beforeAll, expect, test } from "vitest";
import { SIGN_IN_FAILED } from "../../../../api/base/identity/failure-limits.js";
import { openBrowser, type Browser } from "../../../support/dashboard/open-browser.js";
import { startOpenIdProvider, type TestProvider } from "../../../support/dashboard/openid-provider.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

const CLIENT = { clientId: "toolchain", clientSecret: "the secret of the client" };
/** As the proxy in front of the program says, so that the provider knows the address beforehand. */
const PUBLIC = "https://stats.example/tools";

let provider: TestProvider;
let toolchain: Toolchain;

beforeAll(async () => {
  provider = await startOpenIdProvider({
    ...CLIENT,
    redirectUri: `${PUBLIC}/dashboard/sign-in/openid/return`,
    accounts: {
      ada: { email: "ADA@example.org", email_verified: true },
      "ada-unverified": { email: "ada@example.org", email_verified: false },
      stranger: { email: "stranger@example.org", email_verified: true },
      bob: { email: "bob@example.org", email_verified: true },
    },
  });
  toolchain = await startToolchain({
    env: {
      TRUSTED_PROXIES: "127.0.0.1",
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.clientId,
      OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    },
  });
  await toolchain.newAccount("ada");
  await toolchain.newAccount("bob");
});

afterAll(async () => {
  await toolchain?.close();
  await provider?.[Symbol.asyncDispose]();
});

function browser(): Browser {
  const headers = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "stats.example",
    "x-forwarded-prefix": "/tools",
  };
  return openBrowser({ url: toolchain.api, headers, origin: "https://stats.example" });
}

const leave = async (from: Browser, to = "") =>
  (await from.get(`/dashboard/sign-in/openid?to=${encodeURIComponent(to)}`)).location;

/** The path below the prefix, as the proxy passes it on. */
const passedOn = ({ href }: URL) => href.slice(PUBLIC.length);

/** To the provider and back, as `login` there. */
async function signIn(login: string, { from = browser(), to = "" } = {}) {
  const back = await provider.visit(await leave(from, to), login);
  return { from, back, seen: await from.get(passedOn(back)) };
}

const isSignedIn = async (from: Browser) => (await from.get("/dashboard/account")).status === 200;

test("the account of a verified address signs in, and comes to the page that was wanted", async () => {
  const from = browser();
  const signInPage = await from.get("/dashboard/sign-in?to=/dashboard/account");
  expect(signInPage.html).toContain('href="/tools/dashboard/sign-in/openid?to=%2Fdashboard%2Faccount"');
  const url = new URL(await leave(from));
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    state: expect.stringMatching(/^[\w-]{43}$/) as string,
    nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    redirect_uri: `${PUBLIC}/dashboard/sign-in/openid/return`,
  });
  const { seen } = await signIn("ada", { from, to: "/dashboard/account" });
  expect([seen.status, seen.location]).toEqual([302, "/tools/dashboard/account"]);
  expect([...from.cookies.keys()]).toEqual(["__Host-maintainer-session.tools"]);
  expect((await from.get("/dashboard/account")).html).toContain("ada@example.org");
  expect((await signIn("ada", { to: "https://evil.example/" })).seen.location).toBe("/tools/dashboard");
});

test.each(["ada-unverified", "stranger"])("%s does not, for no reason that is told", async (login) => {
  const { seen, from } = await signIn(login);
  expect(seen.status).toBe(401);
  expect(seen.html).toContain(SIGN_IN_FAILED.openid);
  expect(await isSignedIn(from)).toBe(false);
});

test("an answer counts once, for the browser that left for it, and unchanged", async () => {
  const { from, back } = await signIn("bob");
  const again = browser();
  await leave(again);
  expect((await from.get(passedOn(back))).status).toBe(401);
  expect((await again.get(passedOn(back))).status).toBe(401);
  expect((await browser().get(passedOn(back))).status).toBe(401);
  expect(await isSignedIn(again)).toBe(false);

  const other = browser();
  const fresh = await provider.visit(await leave(other), "bob");
  fresh.searchParams.set("state", "a".repeat(43));
  expect((await other.get(passedOn(fresh))).status).toBe(401);
  const refused = browser();
  const { searchParams } = new URL(await leave(refused));
  const denied = `/dashboard/sign-in/openid/return?error=access_denied&state=${searchParams.get("state")}&iss=${provider.issuer}`;
  expect((await refused.get(denied)).status).toBe(401);
});

test("a disabled account does not", async () => {
  await toolchain.admin("disable-account", "bob");
  const { seen, from } = await signIn("bob");
  expect(seen.status).toBe(401);
  expect(await isSignedIn(from)).toBe(false);
});

test("while the provider is away this way in is unavailable, and the log has no secret of it", async () => {
  const from = browser();
  const back = await provider.visit(await leave(from), "ada");
  await provider[Symbol.asyncDispose]();
  const seen = await from.get(passedOn(back));
  expect(seen.status).toBe(503);
  expect(Number(seen.headers["retry-after"])).toBeGreaterThan(0);
  expect((await from.get("/dashboard/sign-in")).status).toBe(200);
  const log = toolchain.log();
  expect(log).toContain("rejected an OpenID sign-in");
  for (const secret of [back.searchParams.get("code") ?? "", CLIENT.clientSecret])
    expect(log.includes(secret)).toBe(false);
});
