import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { makeExporter } from "../imports/import-world.js";
import { makePackage, makePixel } from "../imports/make-artifacts.js";
import { startToolchain, type Toolchain } from "../program/start-toolchain.js";
import { bodyOf, knownLines, type KnownLine } from "./known-lines.js";
import { openChromium, type TestBrowser, type Window } from "./open-chromium.js";
import { signIn } from "./sign-in.js";

/** One program and one browser for all tests, an organization with known events, and those who look at it. */
export interface DashboardWorld extends AsyncDisposable {
  toolchain: Toolchain;
  browser: TestBrowser;
  /** The account that owns the organization. */
  api: ApiClient;
  /** Ids. */
  image: string;
  files: string;
  unused: string;
  pixel: string;
  /** Of the package `image`. */
  lines: KnownLine[];
  /** Opens the window of an account, signed in. */
  windowOf(username: Username, options?: WindowOptions): Promise<Window>;
  /** The address of a page. */
  at(path: string): string;
}

export type WindowOptions = Parameters<TestBrowser["open"]>[0] & {
  /** The service as this window reaches it, where that is not directly. */
  base?: string;
};

/** `ada` owns the organization, `bob` is a member of it, `eve` has nothing to do with it. */
export type Username = "ada" | "bob" | "eve";

export const ORGANIZATION = "acme";
export const LINES = 10_000;
const DAYS = 75;

export async function openDashboardWorld(chromium: string): Promise<DashboardWorld> {
  const toolchain = await startToolchain({
    env: { TRUSTED_PROXIES: "127.0.0.1", WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" },
  });
  const browser = await openChromium(chromium);
  try {
    return { ...(await fill(toolchain)), toolchain, browser, ...reaching(toolchain, browser) };
  } catch (error) {
    await browser[Symbol.asyncDispose]();
    await toolchain.close();
    throw error;
  }
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
  await Promise.all(
    [
      { path: `/v2/packages/${ORGANIZATION}/${image.id}/import`, body: bodyOf(lines) },
      { path: `/v2/packages/${ORGANIZATION}/${files.id}/import`, body: bodyOf(few) },
      { path: `/v2/pixels/${ORGANIZATION}/${pixel.id}/import`, body: viewsOf(few.slice(0, 800)) },
    ].map(async ({ path, body }) => api.pollToDone(await api.importBody(path, body))),
  );
  return { api, image: image.id, files: files.id, unused: unused.id, pixel: pixel.id, lines };
}

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
    async windowOf(username: Username, { base = toolchain.api, ...options }: WindowOptions = {}) {
      const window = await browser.open(options);
      await signIn(window.context, { dataDir: toolchain.dataDir, username, base });
      return window;
    },
    [Symbol.asyncDispose]: async () => {
      await browser[Symbol.asyncDispose]();
      await toolchain.close();
    },
  };
}
