import { resolve } from "node:path";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { makeExporter } from "../imports/import-world.js";
import { startServer } from "../collect/start-server.js";
import { DAY_MS, dateAt } from "../../../schemas/date-range.js";
import { makePackage, makePixel } from "../imports/make-artifacts.js";
import { type Toolchain, startToolchain } from "../program/start-toolchain.js";
import { type KnownLine, NETWORKS, bodyOf, knownLines } from "./known-lines.js";
import { type TestBrowser, type Window, openChromium } from "./open-chromium.js";
import type { Pool } from "pg";
import { pino } from "pino";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { cookieForm } from "../../../api/base/http/middleware/session.js";
import { createSession } from "../../../api/base/identity/sessions.js";
import { type TokenCipher, createTokenCipher } from "../../../api/base/identity/tokens.js";
import { readAccountByName } from "../../../api/base/identity/stored-accounts.js";
import { openAdminStores } from "../../../deploy/commands/open-admin-stores.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";

/** One program and one browser for all tests, before anybody was there. */
export interface NewWorld extends AsyncDisposable {
  toolchain: Toolchain;
  browser: TestBrowser;
}

/** An organization with known events, and those who look at it. */
export interface DashboardWorld extends Omit<NewWorld, keyof AsyncDisposable> {
  /** The account that owns the organization. */
  api: ApiClient;
  /** Ids. */
  image: string;
  files: string;
  unused: string;
  pixel: string;
  webhook: string;
  /** A finished import with faults. */
  imported: string;
  /** Of the package `image`. */
  lines: KnownLine[];
  /** Opens the window of an account, signed in. */
  windowOf(username: Username, options?: WindowOptions): Promise<Window>;
  /** The address of a page. */
  at(path: string): string;
}

type WindowOptions = Parameters<TestBrowser["open"]>[0];

/** `ada` owns the organization, `bob` is a member of it, `eve` has nothing to do with it. */
type Username = "ada" | "bob" | "eve";

export const ORGANIZATION = "acme";
/** The domain of a company with a stage. */
export const COMPANY = "maxmind.com";
const COMPANY_ADDRESS = "1.2.0.1";
/** Knows the address. */
const COMPANIES = "test/fixtures/mmdb/GeoIP2-Domain-Test.mmdb";
const HOSTILE_ORGANIZATIONS = "test/fixtures/networks/hostile-organizations.csv";
/** Of a company whose name is a script. */
export const HOSTILE_ADDRESS = "192.0.3.7";
const LINES = 10_000;
const DAYS = 75;

/** Counts of a month, as npm answers them for every package. */
const NPM_DAYS = 30;
export const NPM_DOWNLOADS = 40;

function startNpm() {
  return startServer((_, response) => {
    const downloads = Array.from({ length: NPM_DAYS }, (_day, ago) => ({
      day: dateAt(Date.now() - (ago + 1) * DAY_MS),
      downloads: NPM_DOWNLOADS,
    }));
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ downloads }));
  });
}

async function openNewWorld(chromium: string): Promise<NewWorld> {
  const npm = await startNpm();
  const toolchain = await startToolchain({
    env: {
      TRUSTED_PROXIES: "127.0.0.1",
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
      SOURCES_URLS: `npm=${npm.url}`,
      COMPANY_MMDB: resolve(COMPANIES),
      ASN_DB: resolve(NETWORKS),
      ORGANIZATIONS_CSV: resolve(HOSTILE_ORGANIZATIONS),
    },
  });
  const browser = await openChromium(chromium).catch(async (error: unknown) => {
    await toolchain.close();
    throw error;
  });
  return {
    toolchain,
    browser,
    [Symbol.asyncDispose]: async () => {
      await browser[Symbol.asyncDispose]();
      await toolchain.close();
      await npm[Symbol.asyncDispose]();
    },
  };
}

async function fillWorld({ toolchain, browser }: NewWorld): Promise<DashboardWorld> {
  return { ...(await fill(toolchain)), toolchain, browser, ...reaching(toolchain, browser) };
}

/** A new world for the tests of a suite: open before the first, closed after the last. */
export function useNewWorld(chromium: string): () => NewWorld {
  let world: NewWorld | undefined;
  beforeAll(async () => void (world = await openNewWorld(chromium)));
  afterAll(() => world?.[Symbol.asyncDispose]());
  return () => world as NewWorld;
}

/** Fills the new world before the first test of a suite. */
export function useFilledWorld(newWorld: () => NewWorld): () => DashboardWorld {
  let world: DashboardWorld | undefined;
  beforeAll(async () => void (world = await fillWorld(newWorld())));
  return () => world as DashboardWorld;
}

async function fill(toolchain: Toolchain) {
  const api = await makeExporter(toolchain, ORGANIZATION);
  for (const name of ["bob", "eve"])
    await toolchain.admin("create-account", "--username", name, "--email", `${name}@example.org`);
  await api.post(`/v1/organizations/${ORGANIZATION}/users`, { username: "bob", role: "member" });
  const made = (name: string, libraryType: "docker" | "other" | "npm") =>
    makePackage(api, { organization: ORGANIZATION, name, libraryType });
  const image = await made("acme/web", "docker");
  const files = await made("tool", "other");
  const unused = await made("@acme/unused", "npm");
  const pixel = await makePixel(api, { owner: ORGANIZATION, name: "docs" });
  const lines = knownLines({ count: LINES, seed: 1, days: DAYS, now: new Date() });
  const few = knownLines({ count: 3_000, seed: 2, days: DAYS, now: new Date() });
  const [imported] = await Promise.all(
    [
      {
        path: `/v2/packages/${ORGANIZATION}/${files.id}/import`,
        body: `${bodyOf(few)}\n${FROM_COMPANY}\n{}`,
      },
      { path: `/v2/packages/${ORGANIZATION}/${image.id}/import`, body: bodyOf(lines) },
      { path: `/v2/pixels/${ORGANIZATION}/${pixel.id}/import`, body: viewsOf(few.slice(0, 800)) },
    ].map(async ({ path, body }) => api.pollToDone(await api.importBody(path, body))),
  );
  await api.post(`/v2/${ORGANIZATION}/funnel/run`, {});
  const init = { method: "PUT", body: JSON.stringify({ public: "page" }) };
  await api.request(`/v2/packages/${ORGANIZATION}/${files.id}/public`, init);
  const webhook = await api.post<{ id: string }>(`/v2/${ORGANIZATION}/webhooks`, {
    url: "http://127.0.0.1:9/maintainer",
    event_kinds: ["company-funnel-stage-changed"],
  });
  const ids = { image: image.id, files: files.id, unused: unused.id, pixel: pixel.id };
  return { api, ...ids, webhook: webhook.id, imported: imported?.id ?? "", lines };
}

const FROM_COMPANY = JSON.stringify({
  $time: new Date().toISOString(),
  $remote_address: COMPANY_ADDRESS,
  $user_agent: "curl/8.5.0",
});

const PAGES = ["https://acme.example/docs", "https://acme.example/", "https://acme.example/install"];

function viewsOf(lines: readonly KnownLine[]): string {
  return lines
    .map(({ date, key, address }, index) =>
      JSON.stringify({
        $time: `${date}T00:00:01Z`,
        $unique_id: key,
        $remote_address: address,
        $referrer: PAGES[index % PAGES.length],
      }),
    )
    .join("\n");
}

function reaching(toolchain: Toolchain, browser: TestBrowser) {
  return {
    at: (path: string) => `${toolchain.api}/dashboard${path}`,
    async windowOf(username: Username, options: WindowOptions = {}) {
      const window = await browser.open(options);
      await signIn(window.context, { dataDir: toolchain.dataDir, username, base: toolchain.api });
      return window;
    },
  };
}

interface SignIn {
  /** Of the running program. */
  dataDir: string;
  username: string;
  /** The service as the browser reaches it. */
  base: string;
}

/** Gives the browser a session, as signing in does. */
async function signIn(context: BrowserContext, { dataDir, username, base }: SignIn): Promise<void> {
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
