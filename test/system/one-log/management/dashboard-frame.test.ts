import { beforeAll, expect, test } from "vitest";
import { READ_STATISTICS } from "../../../../api/features/statistics/statistics-operations.js";
import { route } from "../../../../api/base/http/route.js";
import { createSession } from "../../../../api/base/identity/sessions.js";
import { cookieForm } from "../../../../api/base/http/middleware/session.js";
import { readAccountByName } from "../../../../api/base/identity/stored-accounts.js";
import { openBrowser } from "../../../support/dashboard/open-browser.js";
import { api, postgres, useApi } from "../../../support/api/use-world.js";

/** Statistics whose store is away. */
const away = route({
  method: "GET",
  path: ["/v2/:owner/stats", "/v2/:owner/stats/packages"],
  action: "stats.read",
  operation: READ_STATISTICS,
  handle() {
    throw Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:8123"), { code: "ECONNREFUSED" });
  },
});

let token: string;
let cookie: string;

useApi(() => ({ routes: [away] }));

beforeAll(async () => {
  const { pg } = postgres;
  token = await api.account("ada");
  const { id } = (await readAccountByName(pg, "ada")) ?? { id: "" };
  const browser = { userAgent: "", address: "127.0.0.1" };
  const secret = await createSession({ pg, tokens: api.tokens }, { accountId: id, method: "link", browser });
  cookie = `${cookieForm(api.url, "session").name}=${secret}`;
});
/** What a browser gets that is not signed in, or is. */
const get = (path: string, headers: Record<string, string> = {}) =>
  openBrowser({ url: api.url }).get(path, headers);

test("the root leads browsers to the dashboard, and tells programs where it is", async () => {
  const seen = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
  expect([seen.status, seen.location]).toEqual([302, "/dashboard"]);
  const told = await get("/", { accept: "*/*" });
  expect([told.status, JSON.parse(told.html)]).toMatchObject([
    404,
    { code: "not-found", message: expect.stringContaining(`${api.url}/dashboard`) as string },
  ]);
});

test("a page whose store is away says so with 503, and keeps the reason to itself", async () => {
  const { status, headers, html } = await get("/dashboard/o/ada", { cookie });
  expect(status).toBe(503);
  expect(headers["retry-after"]).toBe("5");
  expect(html).toContain("The database is temporarily unavailable.");
  expect(html).toContain(`http-equiv="refresh" content="5"`);
  expect(html).not.toMatch(/ECONNREFUSED|10\.0\.0\.1/);
  expect((await get("/dashboard/sign-in")).status).toBe(200);
});

test("the API below the dashboard takes the session, and the API itself does not", async () => {
  const user = await get("/dashboard/api/v1/user", { cookie });
  expect(JSON.parse(user.html)).toMatchObject({ username: "ada" });
  expect((await get("/dashboard/api/v1/user")).status).toBe(401);
  expect((await get("/v1/user", { cookie })).status).toBe(401);
  expect((await get("/dashboard/api/v1/user", { authorization: `Bearer ${token}` })).status).toBe(401);
});

test("only operations are below the API of the dashboard", async () => {
  for (const path of ["/dashboard/api", "/dashboard/api/dashboard/account", "/dashboard/api/healthz"])
    expect((await get(path, { cookie })).status, path).toBe(404);
});

test("a form that names no form, and a notice that is none, change nothing", async () => {
  for (const name of ["unknown", "constructor", "toString", "__proto__"]) {
    const sent = await openBrowser({ url: api.url }).post("/dashboard/account", { action: name }, { cookie });
    expect(sent.status, name).toBe(404);
    const noticed = await get(`/dashboard/account?notice=${name}`, { cookie });
    expect(noticed.html, name).not.toContain('class="notice"');
  }
});

test("a form cannot reach another operation by dots in what it names", async () => {
  const { uuid } = (
    await api.call(token, "POST /v1/packages", { name: "tools", shortDescription: "", libraryType: "other" })
  ).body as { uuid: string };
  for (const id of ["..", "."]) {
    const at = `/dashboard/o/ada/settings/packages/${uuid}`;
    const sent = await openBrowser({ url: api.url }).post(at, { action: `remove-route ${id}` }, { cookie });
    expect(sent.status).toBe(404);
  }
  expect((await api.call(token, `GET /v1/packages/${uuid}`)).status).toBe(200);
});

test("pages allow no inline script or style, and files are kept for good under a name of their content", async () => {
  const page = await get("/dashboard/nothing");
  expect(page.status).toBe(404);
  const policy = page.headers["content-security-policy"];
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).not.toContain("unsafe");
  const [, sheet = ""] = /href="([^"]+\.css)"/.exec(page.html) ?? [];
  const { headers } = await get(sheet, { "accept-encoding": "gzip" });
  expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect(headers["content-encoding"]).toBe("gzip");
  expect((await get(sheet.replace(/assets\/[^/]+/, "assets/older"))).status).toBe(404);
});

test("the guide is there for everybody, with its picture, in the frame of whoever is signed in", async () => {
  const start = await get("/docs/guide");
  expect([start.status, start.html.includes("Choose your case")]).toEqual([200, true]);
  const [, picture = ""] = /src="([^"]+package\.png)"/.exec(start.html) ?? [];
  expect((await get(picture)).headers["content-type"]).toBe("image/png");
  const page = await get("/docs/guide/webhooks", { cookie });
  expect(page.html).toContain("Sign out");
  for (const { html } of [start, page]) expect(html).toContain(">Maintainer Toolchain</span>");
  expect((await get("/docs/guide/receive.py")).html).toContain("hmac");
  for (const name of ["nothing", "..%2f..%2fpackage.json", "constructor"]) {
    const missing = await get(`/docs/guide/${name}`);
    expect([missing.status, missing.html.includes("Page not found")], name).toEqual([404, true]);
  }
});

test("a page that is not there suggests near names of what the viewer may see, and of nothing else", async () => {
  const make = (owner: string, name: string) =>
    api.call(owner, "POST /v1/packages", { name, shortDescription: "", libraryType: "other" });
  const other = await api.account("hidden-owner");
  await make(token, "webserver");
  await make(other, "webserve");
  const mine = await get("/dashboard/o/ada/packages/websever", { cookie });
  expect(mine.status).toBe(404);
  expect(mine.html).toMatch(/<bdi>webserver<\/bdi>/);
  expect(mine.html).toContain('value="websever"');
  expect(mine.html).not.toContain("webserve<");
  expect((await get("/dashboard/webhok", { cookie })).html).toContain("/dashboard/o/ada/webhooks");
  const stranger = await get("/docs/guide/webhok");
  expect([stranger.status, stranger.html.includes("/docs/guide/webhooks")]).toEqual([404, true]);
  expect(stranger.html).not.toContain("Page in");
});
