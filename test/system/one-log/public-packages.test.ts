import { beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { Statistics } from "../../../schemas/contracts/statistics.js";
import { REQUESTS_MAX } from "../../../api/features/public/badge-routes.js";
import { visit, type Visitor } from "../../support/dashboard/visitor.js";
import { readCompanyOf, type KnownCompany } from "../../support/imports/company-addresses.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import { api, joinProgram, program } from "../../support/program/use-toolchain.js";
import { preparedStores } from "../../support/stores/prepared-stores.js";

const OWNER = "public-acme";
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
/** In London. */
const PLACE = "81.2.69.160";

joinProgram("public-ada", { organizations: [OWNER] });

let as: Record<"member" | "packager" | "reader" | "blocked" | "stranger", ApiClient>;
/** Ids. */
let tool: string;
let image: string;
let owner: Visitor;
let company: KnownCompany;

beforeAll(async () => {
  image = (await makePackage(api, { organization: OWNER, name: "team/image", libraryType: "docker" })).id;
  tool = (await makePackage(api, { organization: OWNER, name: "tool", libraryType: "other" })).id;
  await makePackage(api, { organization: OWNER, name: "hidden", libraryType: "other" });
  const join = (name: string) => program.newAccount(`public-${name}`);
  as = {
    member: await join("member"),
    packager: await join("packager"),
    reader: await join("reader"),
    blocked: await join("blocked"),
    stranger: await join("stranger"),
  };
  for (const username of ["public-member", "public-blocked"])
    await api.post(`/v1/organizations/${OWNER}/users`, { username, role: "admin" });
  await api.post(`/v1/organizations/${OWNER}/users`, { username: "public-member", role: "member" });
  const levels = [
    { userQuery: "public-packager", permissionLevel: "admin" },
    { userQuery: "public-reader", permissionLevel: "member" },
    { userQuery: "public-blocked", permissionLevel: "blocked" },
  ];
  await api.request(`/v1/packages/${tool}/permissions`, { method: "POST", body: JSON.stringify(levels) });
  company = await readCompanyOf(preparedStores()?.networks ?? "");
  for (const id of [image, tool])
    await api.pollToDone(
      await api.importBody(`/v2/packages/${OWNER}/${id}/import`, linesFrom(company.address)),
    );
  owner = await visit(program.api, { username: "public-ada", token: api.token });
});

/** 1,234 downloads from two addresses, most of version 1.4. */
function linesFrom(address: string): string {
  const lines = Array.from({ length: 1_234 }, (_, index) => ({
    $time: `${YESTERDAY}T08:00:00Z`,
    $remote_address: index % 2 === 0 ? address : PLACE,
    $user_agent: "curl/8.9.1",
    $version: index % 3 === 0 ? "<b>1.5</b>" : "1.4",
    edition: "secret-edition",
  }));
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

const daysAround = `?startDate=${YESTERDAY}&endDate=${new Date().toISOString().slice(0, 10)}`;
const settingOf = (id: string) => `/v2/packages/${OWNER}/${id}/public`;
const put = (client: ApiClient, id: string, body: object) =>
  client.request(settingOf(id), { method: "PUT", body: JSON.stringify(body) });
const fetched = (path: string, init?: RequestInit) => fetch(program.api + path, init);

/** `fetch` would add a `no-cache` of its own. */
const ifOtherThan = ({ headers }: Response) => ({
  headers: { "If-None-Match": headers.get("etag") ?? "", "Cache-Control": "max-age=0" },
});

/** An answer without what differs between any two. */
async function whole(path: string) {
  const answer = await fetched(path);
  const headers: Record<string, string> = {};
  answer.headers.forEach((value, name) => (headers[name] = value));
  const { date: _, "x-request-id": __, ratelimit: ___, ...rest } = headers;
  return { status: answer.status, headers: rest, text: await answer.text() };
}

const BADGE = { public: "badge", automated: "include" };

describe("what everybody may see of a package", () => {
  test("is nothing, until an admin of the package sets it", async () => {
    expect(await api.get(settingOf(tool))).toEqual({ public: "none", automated: "include" });
    expect(await (await put(as.packager, "tool", { public: "badge" })).json()).toEqual(BADGE);
    expect(await as.packager.get(settingOf(tool))).toEqual(BADGE);
    const audit = await api.get<{ audit_entries: object[] }>(`/v2/${OWNER}/audit?actor=public-packager`);
    expect(audit.audit_entries[0]).toMatchObject({ action: "packages.update", changes: { public: "badge" } });
  });

  test.each([
    ["a member of the organization", () => as.member, 403],
    ["a member of the package", () => as.reader, 403],
    ["an admin of the organization who is blocked from the package", () => as.blocked, 404],
    ["a stranger", () => as.stranger, 404],
  ])("is neither read nor set by %s", async (_, client, status) => {
    expect((await client().request(settingOf(tool))).status).toBe(status);
    expect((await put(client(), tool, { public: "page" })).status).toBe(status);
    expect(await api.get(settingOf(tool))).toEqual(BADGE);
  });

  test.each([
    {},
    { automated: "exclude" },
    { public: "badge", automated: "only" },
    { public: "all" },
    { public: "page", since: "2026" },
  ])("is not %j", async (body) => {
    expect((await put(api, tool, body)).status).toBe(422);
  });

  test("is set only on what was read, with If-Match", async () => {
    const tag = (await api.request(settingOf(tool))).headers.get("etag") ?? "";
    const sent = (match: string) =>
      api.request(settingOf(tool), {
        method: "PUT",
        body: JSON.stringify({ public: "badge" }),
        headers: { "If-Match": match },
      });
    expect([(await sent('"other"')).status, (await sent(tag)).status]).toEqual([412, 200]);
  });
});

describe("a badge", () => {
  const badge = async (query: string, name = "tool") =>
    (await fetched(`/badge/${OWNER}/${name}.json?${query}`)).json() as Promise<Record<string, unknown>>;

  test.each([
    ["", { label: "downloads/month", message: "1.2k", color: "#007ec6" }],
    ["period=total&label=all&color=green", { label: "all", message: "1.2k", color: "#97ca00" }],
    ["period=day", { message: "1.2k" }],
    ["metric=addresses", { label: "unique IPs/month", message: "<10" }],
    ["metric=version&style=flat-square", { label: "version", message: "1.4", style: "flat-square" }],
  ])("with %j is %j", async (query, expected) => {
    expect(await badge(query)).toMatchObject({ schemaVersion: 1, cacheSeconds: 3600, ...expected });
  });

  test.each([
    "v=2",
    "utm_source=x&period=day",
    "format=svg",
    "metric=downloads&Metric=x",
    "=",
    "a[b]=c",
    "colour=red",
    "v=1&v=2",
  ])("ignores %s, which it does not know", async (query) => {
    expect(await badge(query)).toMatchObject({ message: "1.2k" });
    expect((await fetched(`/badge/${OWNER}/tool.svg?${query}`)).status).toBe(200);
  });

  test.each([
    ["metric=stars", "metric must be one of downloads, addresses, version."],
    ["period=year", "period must be one of day, week, month, total."],
    ["style=social", "style must be one of flat, flat-square, for-the-badge."],
    ["color=mauve", "color must be a name such as blue, or 3 or 6 hexadecimal digits."],
    ["color=red%22", "color must be a name such as blue, or 3 or 6 hexadecimal digits."],
    ["period=day&period=week", "period can be given only once."],
    [`label=${"x".repeat(65)}`, "label must have at most 64 characters."],
  ])("says in the picture what is wrong with %s", async (query, message) => {
    const picture = await fetched(`/badge/${OWNER}/hidden.svg?${query}`);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([400, "image/svg+xml"]);
    expect(await picture.text()).toContain(`<title>badge: ${message}</title>`);
    const answer = await fetched(`/badge/${OWNER}/hidden.json?${query}`);
    expect([answer.status, await answer.json()]).toEqual([400, { code: "invalid-query", message }]);
  });

  test.each([`/badge/${OWNER}/tool.svg`, `/badge/${OWNER}/tool.json`, `/badge/${OWNER}/nothing.svg`])(
    "%s can be shown and read by any page",
    async (path) => {
      const { headers } = await fetched(path, { headers: { Origin: "https://readme.example" } });
      expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
      expect(headers.get("access-control-allow-origin")).toBe("*");
    },
  );

  test("is a picture that caches may keep for an hour, and is asked for again by its tag", async () => {
    const answer = await fetched(`/badge/${OWNER.toUpperCase()}/tool.svg`);
    expect(answer.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(await answer.text()).toContain("<title>downloads/month: 1.2k</title>");
    const again = await fetched(`/badge/${OWNER}/tool.svg`, ifOtherThan(answer));
    expect([again.status, again.headers.get("cache-control")]).toEqual([304, "public, max-age=3600"]);
  });

  test("shows a hostile label and version as text", async () => {
    const label = encodeURIComponent("</text><script>alert(1)</script>");
    const svg = await (await fetched(`/badge/${OWNER}/tool.svg?label=${label}`)).text();
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script>");
  });

  test.each(["svg", "json"])(
    "as %s says nothing of a package that is private, by not being other than none",
    async (form) => {
      const [hidden, missing, none] = [
        await whole(`/badge/${OWNER}/hidden.${form}?label=x`),
        await whole(`/badge/${OWNER}/missing.${form}?label=x`),
        await whole(`/badge/nobody-here/hidden.${form}?label=x`),
      ];
      expect(hidden).toEqual(missing);
      expect(none).toEqual(missing);
      expect(missing).toMatchObject({ status: 200, headers: { "cache-control": "public, max-age=3600" } });
      expect(missing.text).toContain("unknown");
    },
  );

  test("finds a package with a slash in its name, and is unknown once it is taken back", async () => {
    await put(api, image, { public: "badge" });
    expect(await badge("", "team%2Fimage")).toMatchObject({ message: "1.2k" });
    expect(await badge("metric=version", "team%2Fimage")).toMatchObject({ message: "1.4" });
    await put(api, image, { public: "none" });
    expect(await badge("", "team%2Fimage")).toMatchObject({ message: "unknown", isError: true });
  });

  test("needs the type where two packages of the name are public", async () => {
    const twin = (await makePackage(api, { organization: OWNER, name: "tool", libraryType: "npm" })).id;
    expect(await badge("")).toMatchObject({ message: "1.2k" });
    await put(api, twin, { public: "page" });
    expect(await badge("")).toMatchObject({ message: "unknown" });
    expect(await badge("type=file")).toMatchObject({ message: "1.2k" });
    expect(await badge("type=npm")).toMatchObject({ message: "<10" });
    await put(api, twin, { public: "none" });
  });
});

describe("a public page", () => {
  const PAGE = `/p/${OWNER}/tool`;

  test("is not there for a package with a badge alone, and nothing tells that one from a missing one", async () => {
    const [badged, hidden, missing] = [
      await whole(PAGE),
      await whole(`/p/${OWNER}/hidden`),
      await whole(`/p/${OWNER}/missing`),
    ];
    expect(badged).toMatchObject({ status: 404, headers: { "content-type": "text/html; charset=utf-8" } });
    expect([hidden, missing]).toEqual([badged, badged]);
  });

  test("is opened in the settings, which give the lines to copy", async () => {
    const settings = `/o/${OWNER}/settings/packages/${tool}`;
    const page = await owner.submit(settings, { action: "public", public: "page" });
    expect(page.text).toContain("Public visibility saved.");
    expect(page.html).toContain(`href="${program.api}${PAGE}"`);
    const badge = `${program.api}/badge/${OWNER}/tool.svg`;
    expect(page.html).toContain(`[![downloads](${badge})](${program.api}${PAGE})`);
    expect((await fetched(PAGE)).status).toBe(200);
  });

  test("shows downloads, versions, clients and countries, and its badge", async () => {
    const answer = await fetched(PAGE);
    const html = await answer.text();
    for (const shown of [
      'property="og:title" content="tool by public-acme',
      'property="og:description" content="1,234 downloads in',
      "1,234",
      "1.4",
      "&lt;b>1.5&lt;/b>",
      "curl",
      "United Kingdom",
      `/badge/${OWNER}/tool.svg`,
    ])
      expect(html).toContain(shown);
    expect(html).not.toContain("<b>1.5");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=600");
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect((await fetched(PAGE, ifOtherThan(answer))).status).toBe(304);
  });

  test("never has companies, addresses, cities or variables", async () => {
    const { breakdowns } = await api.get<Statistics>(`/v2/${OWNER}/stats?package=${tool}`);
    // They are known, and would be seen.
    expect(breakdowns["company"]).not.toEqual([]);
    expect(breakdowns["variable"]).not.toEqual([]);
    const events = await api.request(`/v1/packages/${tool}/events/events.csv${daysAround}`);
    expect(await events.text()).toContain("London");
    const hidden = [company.name, company.domain, company.address, PLACE, "London", "edition"];
    for (const path of [PAGE, `${PAGE}?days=90`]) {
      const html = await (await fetched(path)).text();
      for (const each of hidden) expect(html).not.toContain(each);
      expect(html).not.toMatch(/compan|cit(y|ies)\b|address/i);
    }
  });

  test.each(["days=365", "startDate=2026-01-01", "variable.edition=x"])(
    "cannot be asked for with %s",
    async (query) => {
      expect((await fetched(`${PAGE}?${query}`)).status).toBe(400);
    },
  );

  test("is gone at once when it is taken back", async () => {
    await put(api, tool, { public: "none" });
    expect((await whole(PAGE)).status).toBe(404);
  });
});

test("a badge and a page leave out bots, CI and mirrors as soon as that is set, and the page says so", async () => {
  const { id } = await makePackage(api, { organization: OWNER, name: "crawled", libraryType: "other" });
  const lines = Array.from({ length: 1_040 }, (_, index) => ({
    $time: `${YESTERDAY}T08:00:00Z`,
    $remote_address: index < 40 ? PLACE : `3.5.140.${index % 12}`,
    $user_agent: index < 40 ? "curl/8.9.1" : AUTOMATED_AGENTS[index % 3],
    $version: index < 40 ? "1.4" : "2.0",
  }));
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  await api.pollToDone(await api.importBody(`/v2/packages/${OWNER}/${id}/import`, body));
  const seen = async () => {
    const badges = ["downloads", "addresses", "version"].map(async (metric) => {
      const badge = await fetched(`/badge/${OWNER}/crawled.json?metric=${metric}`);
      return ((await badge.json()) as { message: string }).message;
    });
    const html = await (await fetched(`/p/${OWNER}/crawled`)).text();
    const words = [
      '"figure" value="1040"',
      '"figure" value="40"',
      ">2.0<",
      "Googlebot",
      "are included",
      "are excluded",
    ];
    return { badges: await Promise.all(badges), page: words.filter((word) => html.includes(word)) };
  };
  const settings = `/o/${OWNER}/settings/packages/${id}`;
  await owner.submit(settings, { action: "public", public: "page", automated: "include" });
  expect(await seen()).toEqual({
    badges: ["1k", "13", "2.0"],
    page: ['"figure" value="1040"', ">2.0<", "Googlebot", "are included"],
  });
  const page = await owner.submit(settings, { action: "public", public: "page", automated: "exclude" });
  expect(page.html).toMatch(/<option value="exclude" selected/);
  expect(await seen()).toEqual({
    badges: ["40", "<10", "1.4"],
    page: ['"figure" value="40"', "are excluded"],
  });
  const audit = await api.get<{ audit_entries: object[] }>(`/v2/${OWNER}/audit?action=packages.update`);
  expect(audit.audit_entries[0]).toMatchObject({ changes: { automated: "exclude" } });
});

const AUTOMATED_AGENTS = [
  "Googlebot/2.1",
  "verdaccio/5.33.0",
  "npm/10.8.2 node/v20.18.0 linux x64 workspaces/false ci/github-actions",
];

test("a public page shows no annotation", async () => {
  await api.post(`/v2/${OWNER}/annotations`, { date: YESTERDAY, text: "Not for everybody", package: tool });
  await put(api, tool, { public: "page" });
  const html = await (await fetched(`/p/${OWNER}/tool`)).text();
  expect(html).toContain('"figure" value="1234"');
  expect(html).not.toContain("Not for everybody");
});

// The last: what it uses up is missing for a minute.
test("more requests than a reader makes are refused, with the time to wait", async () => {
  const ask = (at: number) => fetched(at % 2 === 0 ? `/badge/${OWNER}/tool.svg` : `/p/${OWNER}/tool`);
  let refused: Response[] = [];
  // A window that earlier tests began may end meanwhile: the next one is full in time.
  for (let sent = 0; sent < 2 * REQUESTS_MAX && refused.length === 0; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 21 }, (_, nth) => ask(sent + nth)));
    refused = answers.filter(({ status }) => status === 429);
  }
  expect(refused.length).toBeGreaterThan(0);
  expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
});
