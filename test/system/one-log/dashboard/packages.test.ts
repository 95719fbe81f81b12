import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { visit, type Visitor } from "../../../support/dashboard/visitor.js";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

let toolchain: Toolchain;
let api: ApiClient;
/** Ids. */
let image: string;
let tools: string;
let owner: Visitor;
let member: Visitor;
/** Without a role, but an admin of the package `tools`. */
let packager: Visitor;
/** Without a role, but a member of the package `tools`. */
let reader: Visitor;

const DAY_MS = 86_400_000;
/** Long ago, but within the years that a page looks back. */
const FIRST_DAY = new Date(Date.now() - 500 * DAY_MS).toISOString().slice(0, 10);
const NEXT_DAY = new Date(Date.now() - 499 * DAY_MS).toISOString().slice(0, 10);

beforeAll(async () => {
  toolchain = await startToolchain({ prepared: ["databases"] });
  api = await toolchain.newAccount("ada");
  await makeOrganization(api, "acme");
  await toolchain.admin("grant-export", "acme");
  image = (await makePackage(api, { organization: "acme", name: "image", libraryType: "docker" })).id;
  tools = (await makePackage(api, { organization: "acme", name: "tools", libraryType: "other" })).id;
  const line = JSON.stringify({ $time: `${FIRST_DAY}T08:00:00Z`, $user_agent: "curl/8.5.0" });
  await api.pollToDone(await api.importBody(`/v2/packages/acme/${tools}/import`, line));
  owner = await visit(toolchain.api, { username: "ada", token: api.token });
  const join = async (username: string) => {
    const { token } = await toolchain.newAccount(username);
    return visit(toolchain.api, { username, token });
  };
  [member, packager, reader] = [await join("mate"), await join("packager"), await join("reader")];
  await api.post("/v1/organizations/acme/users", { username: "mate", role: "member" });
  const levels = [
    { userQuery: "packager", permissionLevel: "admin" },
    { userQuery: "reader", permissionLevel: "member" },
  ];
  const set = { method: "POST", body: JSON.stringify(levels) };
  expect((await api.request(`/v1/packages/${tools}/permissions`, set)).status).toBe(204);
});

afterAll(() => toolchain?.close());

test("commands of pages read the token from one variable", async () => {
  const pages = [`/o/acme/packages/${image}?case=logs`, "/o/acme/imports/new"];
  for (const page of pages) {
    const { text } = await owner.get(page);
    expect(text).toContain("$MAINTAINER_TOKEN");
    expect(text).not.toContain("$TOKEN");
    expect(text).toContain("First set MAINTAINER_TOKEN to a token from your account page");
  }
});

test("first steps name the port that live collection was given by the system", async () => {
  const { text } = await owner.get("/o/acme/packages/image");
  expect(text).toContain(`the collector (${toolchain.endpoints.collect}).`);
  const pixel = await api.post<{ id: string }>("/v2/pixels/acme", { name: "readme" });
  const { html } = await owner.get(`/o/acme/pixels/${pixel.id}`);
  const snippet = `<img src="${toolchain.endpoints.collect}/a.png?x-pxid=${pixel.id}" alt="" referrerpolicy="no-referrer-when-downgrade">`;
  expect(html.replaceAll("&lt;", "<").replaceAll("&quot;", '"')).toContain(snippet);
});

test("first steps take a domain, a route and a public URL, and return to the page of the package", async () => {
  const files = await makePackage(api, { organization: "acme", name: "first", libraryType: "other" });
  const at = `/o/acme/packages/${files.id}?case=files`;
  const wrong = await owner.post(at, { action: "add-route", templatePath: "no path", outgoingUrl: "" });
  expect(wrong.status).toBe(422);
  expect(wrong.html).toContain('value="no path"');
  expect(wrong.html).toContain('id="add-route-templatePath-fault"');
  const route = { action: "add-route", templatePath: "/{version}/{+file}", outgoingUrl: "" };
  const added = await owner.post(at, route);
  expect(added).toMatchObject({ status: 303 });
  expect(added.location).toContain(`/o/acme/packages/${files.id}?case=files&notice=route-added`);
  const named = await owner.submit(at, { action: "add-domain", name: "first.acme.example" });
  expect(named.text).toContain("Domain added.");
  expect(named.text).toContain("-H 'Host: first.acme.example'");
  expect(await api.get<object[]>(`/v1/packages/${files.id}/routes`)).toMatchObject([
    { templatePath: "/{version}/{+file}" },
  ]);
  expect((await member.get(at)).html).not.toContain("add-route");
  expect((await member.post(at, route)).status).toBe(403);

  const body = {
    name: "pulled",
    shortDescription: "Kept",
    libraryType: "docker",
    backendUrl: "https://r.example.org/p",
  };
  const { uuid } = await api.post<PackageV1>("/v1/organizations/acme/packages", body);
  const set = { action: "set-public-url", publicUrl: "https://cr.acme.example/p" };
  const { text } = await owner.submit(`/o/acme/packages/${uuid}`, set);
  expect(text).toContain("Public image URL saved.");
  expect(text).toContain("docker pull cr.acme.example/p:latest");
  expect(await recordOf(uuid)).toMatchObject({ name: "pulled", shortDescription: "Kept" });
  expect((await owner.get(settingsOf(uuid))).html).toContain('value="https://r.example.org/p"');
});

test("first steps print the script of npm, with the collector in it and a warning that many block it", async () => {
  const { id } = await makePackage(api, { organization: "acme", name: "reporting", libraryType: "npm" });
  const { text } = await owner.get(`/o/acme/packages/${id}`);
  expect(text).toContain(`process.env.REPORTS_URL ?? "${toolchain.endpoints.collect}"`);
  expect(text).toContain('"postinstall": "node report-install.mjs"');
  expect(text).toContain("npm 12 and pnpm block install scripts by default");
});

test("the log has one line for a page, whatever it asked of the API", async () => {
  const path = "/dashboard/o/acme/packages/tools";
  await owner.get("/o/acme/packages/tools?days=90");
  const lines = () =>
    toolchain
      .log()
      .split("\n")
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line) as { path: string; account?: string; requestId: string });
  await expect.poll(() => lines().some((line) => line.path === path)).toBe(true);
  const page = lines().findLast((line) => line.path === path);
  expect(page).toMatchObject({ account: "ada", complete: true });
  expect(lines().filter(({ requestId }) => requestId === page?.requestId)).toHaveLength(1);
});

test("a registry's error stands as an error, and nothing says that all is well", async () => {
  const page = `/o/acme/packages/${tools}?notice=from-page`;
  expect((await owner.get(page)).text).toContain("Package created. Fetching counts from its registry…");
  const error = "npm answered 503; it is asked again at 14:20.";
  const source = await api.post<{ id: string }>("/v2/acme/sources", {
    kind: "npm",
    name: "x",
    package: tools,
    enabled: false,
  });
  const set = "update sources set enabled = true, next_run_at = null, last_error = $2 where id = $1";
  const pg = new Client({ connectionString: toolchain.endpoints.postgres });
  await pg.connect();
  await pg.query(set, [source.id, error]);
  await pg.end();
  const { text, html } = await owner.get(page);
  expect(text).toContain(`Counts for npm x could not be fetched: ${error}`);
  expect(html).toMatch(/<p class="problem" role="alert">Counts for npm/);
  expect(text).toContain("Package created.");
  expect(text).not.toContain("Fetching counts");
  expect(text.split(error)).toHaveLength(2);
  expect((await api.request(`/v2/acme/sources/${source.id}`, { method: "DELETE" })).status).toBe(204);
});

const AS_CSV = { headers: { accept: "text/csv" } };
/** The files that a page links to, below `/dashboard`. */
const csvLinksOf = ({ html }: { html: string }) =>
  [...html.matchAll(/href="([^"]*accept=text%2Fcsv[^"]*)"/g)].map(([, link = ""]) =>
    link.replaceAll("&amp;", "&").replace(/^.*?\/dashboard/, ""),
  );

const settingsOf = (id: string) => `/o/acme/settings/packages/${id}`;
const recordOf = (id: string) => api.get<PackageV1>(`/v1/packages/${id}`);

describe("the record of a package", () => {
  const SENT = {
    action: "change",
    name: "image",
    shortDescription: "The image",
    website: "https://x.example",
    backendUrl: "https://registry.example.org/team/image",
  };

  test("is changed as a whole, and shown with what the package has", async () => {
    const sent = { ...SENT, publicUrl: "https://cr.example.org/team/image" };
    expect((await owner.submit(settingsOf(image), sent)).text).toContain("Package saved.");
    expect(await recordOf(image)).toMatchObject({
      shortDescription: "The image",
      website: "https://x.example",
    });
    const { html } = await owner.get(settingsOf(image));
    for (const value of ["The image", SENT.backendUrl, sent.publicUrl])
      expect(html).toContain(`value="${value}"`);
    // A field that was emptied is removed.
    await owner.submit(settingsOf(image), { ...SENT, website: "" });
    expect(await recordOf(image)).not.toHaveProperty("website");
    expect((await owner.get(settingsOf(image))).html).not.toContain(`value="${sent.publicUrl}"`);
  });

  test("is refused beside the fields that are wrong, with all that was typed", async () => {
    const wrong = { ...SENT, name: "other name", backendUrl: "nowhere" };
    const refused = await owner.post(settingsOf(image), wrong);
    expect(refused.status).toBe(422);
    for (const value of ["other name", "nowhere"]) expect(refused.html).toContain(`value="${value}"`);
    expect(refused.html).toContain('id="change-backendUrl-fault"');
    await makePackage(api, { organization: "acme", name: "taken", libraryType: "docker" });
    const taken = await owner.post(settingsOf(image), { ...SENT, name: "taken" });
    expect(taken.html).toContain('id="change-name-fault"');
    expect((await recordOf(image)).name).toBe("image");
  });

  test("is changed by an admin of the package alone, who has no role", async () => {
    const sent = { action: "change", name: "tools", shortDescription: "By its admin" };
    expect((await packager.submit(settingsOf(tools), sent)).text).toContain("Package saved.");
    expect((await packager.get(settingsOf(image))).status).toBe(404);
    expect((await packager.post(settingsOf(image), SENT)).status).toBe(404);
  });

  test.each([
    ["a member of the organization", () => member],
    ["a member of the package", () => reader],
  ])("is neither changed nor deleted by %s", async (_, visitor) => {
    const { status, html } = await visitor().get(settingsOf(tools));
    expect(status).toBe(200);
    expect(html.slice(html.indexOf("<main"))).not.toContain("<form");
    for (const fields of [
      { action: "change", name: "mine", shortDescription: "" },
      { action: "delete", confirm: "tools" },
      { action: "permission", userQuery: "reader", permissionLevel: "admin" },
      { action: "add-route", templatePath: "/x", outgoingUrl: "" },
      { action: "add-domain", name: "x.acme.example" },
    ])
      expect((await visitor().post(settingsOf(tools), fields)).status).toBe(403);
    const at = `/v2/packages/acme/${tools}/upstream`;
    expect((await visitor().request(`/api${at}`)).status).toBe(403);
    expect(await recordOf(tools)).toMatchObject({ name: "tools" });
  });
});

test("a package is made by those alone who manage the owner", async () => {
  const fields = { action: "create", case: "logs", name: "more", shortDescription: "" };
  for (const visitor of [member, packager]) {
    expect((await visitor.get("/o/acme/new?case=logs")).status).toBe(404);
    expect((await visitor.post("/o/acme/new?case=logs", fields)).status).toBe(404);
  }
  expect(await api.get<PackageV1[]>("/v1/organizations/acme/packages")).not.toContainEqual(
    expect.objectContaining({ name: "more" }),
  );
});

describe("an owner of hundreds of packages", () => {
  /** Their list is too long to be kept in memory for a response. */
  const PACKAGES = 300;
  const names = Array.from({ length: PACKAGES }, (_, index) => `many-${index}`);

  beforeAll(async () => {
    await makeOrganization(api, "many");
    const { rows } = await onPostgres(toolchain.endpoints.postgres, (pg) =>
      pg.query<{ id: string }>(
        `insert into packages (id, owner_id, name, library_type, short_description)
         select gen_random_uuid(), owners.id, package.name, 'npm', repeat('x', 1000)
         from owners, unnest($1::text[]) package (name) where owners.name = 'many' returning id`,
        [names],
      ),
    );
    expect(rows).toHaveLength(PACKAGES);
  });

  test("has all of them in the overview, a hundred on a page", async () => {
    const seen: string[] = [];
    let path = "/o/many";
    for (let page = 0; page < 3; page += 1) {
      const { status, html } = await owner.get(path);
      expect(status).toBe(200);
      seen.push(...[...html.matchAll(/\/packages\/(many-\d+)"/g)].map(([, name = ""]) => name));
      path = `/o/many${/href="[^"]*(\?after=[^"]*)" rel="next"/.exec(html)?.[1] ?? ""}`;
    }
    expect(path).toBe("/o/many");
    expect(seen.toSorted()).toEqual(names.toSorted());
  });

  test.each([
    "/search?q=many-299",
    "/o/many/packages/many-299",
    "/o/many/companies",
    "/o/many/live",
    "/o/many/imports/new",
    "/o/many/settings/packages",
    "/o/many/settings/annotations",
    "/o/many/settings/notifications",
    "/o/many/settings/sources",
  ])("has its page %s, again and again", async (path) => {
    const statuses: number[] = [];
    for (let view = 0; view < 6; view += 1) statuses.push((await owner.get(path)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test("keeps every export permit free", async () => {
    const held = async () => (await readMetrics(toolchain)).sum("export_permits_used");
    await expect.poll(held).toBe(0);
  });
});

describe("somebody with a level on one package alone", () => {
  test("sees its numbers on the overview and on its page, and nothing of the others", async () => {
    const overview = await reader.get("/o/acme");
    expect(overview.status).toBe(200);
    expect(overview.html).toContain("packages/tools");
    expect(overview.text).not.toContain("image");
    expect(overview.html).not.toMatch(/\/o\/acme\/(companies|imports|webhooks|settings)/);
    const path = `/o/acme/packages/${tools}?startDate=${FIRST_DAY}&endDate=${NEXT_DAY}`;
    const page = await reader.get(path);
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/Downloads 1 /);
    expect((await reader.get(`/o/acme/packages/${image}`)).status).toBe(404);
  });

  test("gets its numbers as CSV by the links of its page, and no other numbers", async () => {
    const path = `/o/acme/packages/${tools}?startDate=${FIRST_DAY}&endDate=${NEXT_DAY}&interval=day`;
    for (const visitor of [reader, packager, owner]) {
      const links = csvLinksOf(await visitor.get(path));
      expect(links).toHaveLength(2);
      const files = await Promise.all(links.map(async (link) => (await visitor.request(link)).text()));
      expect(files).toEqual([
        `date,downloads,views,unique_addresses\n${FIRST_DAY},1,0,0\n`,
        "client,client_version,downloads,share,change\ncurl,8.5.0,1,1,\n",
      ]);
      const whole = await visitor.get(path.replace("?", "/all/client?"));
      expect(csvLinksOf(whole)).toHaveLength(1);
    }
    const statuses = ["", `?package=${image}`].map(
      async (query) => (await reader.request(`/api/v2/acme/stats/client${query}`, AS_CSV)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404]);
  });

  test("gets no CSV from a role that covers no exports, nor where export is not granted", async () => {
    const path = `/o/acme/packages/${tools}?startDate=${FIRST_DAY}&endDate=${NEXT_DAY}`;
    const lists = [path, path.replace("?", "/all/client?")];
    const file = `/api/v2/acme/stats/client?package=${tools}`;
    const links = async (visitor: Visitor) =>
      (await Promise.all(lists.map((list) => visitor.get(list)))).flatMap(csvLinksOf);
    expect(await links(member)).toEqual([]);
    expect((await member.request(file, AS_CSV)).status).toBe(403);
    await toolchain.admin("revoke-export", "acme");
    const ungranted = await Promise.all([reader, owner].map(links));
    const statuses = await Promise.all([reader, owner].map((each) => each.request(file, AS_CSV)));
    await toolchain.admin("grant-export", "acme");
    expect(ungranted).toEqual([[], []]);
    expect(statuses.map(({ status }) => status)).toEqual([403, 403]);
  });

  test("imports into it as its admin, from its page, and does not as its member", async () => {
    const page = await packager.get(`/o/acme/packages/${tools}`);
    expect(page.html).toContain(`/o/acme/imports/new?package=${tools}`);
    const upload = await packager.get(`/o/acme/imports/new?package=${tools}`);
    expect(upload.status).toBe(200);
    const targets = [...upload.html.matchAll(/<option value="[^"]*(\/v2\/[^"]+)"/g)].map(([, to]) => to);
    expect(targets).toEqual([`/v2/packages/acme/${tools}/import`]);
    const init = { method: "POST", body: "{}", headers: { "Content-Type": "application/ndjson" } };
    const started = await packager.request(`/api${targets[0] ?? ""}`, init);
    const { id } = (await started.json()) as { id: string };
    expect((await packager.get(`/o/acme/imports/${id}`)).text).toContain("Import into tools");
    expect((await reader.get(`/o/acme/packages/${tools}`)).html).not.toContain("imports/new");
    expect((await reader.get("/o/acme/imports/new")).status).toBe(403);
  });

  test("imports a file by a form without script as its admin, and nobody does into anything else", async () => {
    const send = async (visitor: Visitor, into: string, changed: RequestInit = {}) => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ action: "upload", into, format: "csv" }))
        body.set(name, value);
      body.set("file", new Blob(["$time,note\nyesterday,a\n"]), "events.csv");
      const init = { method: "POST", body, redirect: "manual", ...changed } as const;
      return visitor.request("/o/acme/imports/new", init);
    };
    const path = `/dashboard/api/v2/packages/acme/${tools}/import`;
    const taken = await send(packager, path);
    expect(taken.status).toBe(303);
    const page = (taken.headers.get("location") ?? "").replace(/^.*?\/dashboard/, "");
    await expect.poll(async () => (await packager.get(page)).text).toContain("Import into tools Done");
    expect((await packager.get(page)).text).toContain("events.csv");
    for (const other of ["", "/dashboard/api/v2/acme/import", path.replace(tools, image)])
      expect((await send(packager, other)).status).toBe(422);
    expect((await send(reader, path)).status).toBe(403);
    const headers = { "Content-Type": "multipart/form-data; boundary=x" };
    expect((await send(packager, path, { body: "no parts", headers })).status).toBe(400);
    expect((await send(packager, path, { body: Buffer.alloc(2 ** 20 + 1), headers })).status).toBe(413);
    const parts = "--x\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n".repeat(300);
    expect((await send(packager, path, { body: `${parts}--x--`, headers })).status).toBe(422);
    expect((await send(packager, path, { headers: { "Sec-Fetch-Site": "cross-site" } })).status).toBe(403);
  });
});

test("a pixel of a package that a member is blocked from is on no page of theirs", async () => {
  const pixel = await api.post<{ id: string }>("/v2/pixels/acme", { name: "docs", package_id: image });
  const level = (permissionLevel: string) =>
    api.request(`/v1/packages/${image}/permissions`, {
      method: "POST",
      body: JSON.stringify({ userQuery: "mate", permissionLevel }),
    });
  const seen = async () => [
    (await member.get("/o/acme")).html.includes(pixel.id),
    (await member.get(`/o/acme/pixels/${pixel.id}`)).status,
  ];
  const before = await seen();
  await level("blocked");
  const blocked = await seen();
  await level("default");
  expect([before, blocked]).toEqual([
    [true, 200],
    [false, 404],
  ]);
});

test("a live stream has what arrives of the packages that its reader may see, and ends with their role", async () => {
  const marker = (await makePackage(api, { organization: "acme", name: "marker", libraryType: "other" })).id;
  const arrive = async (id: string, version: string) => {
    const line = JSON.stringify({ $time: `${FIRST_DAY}T09:00:00Z`, $version: version, $country: "NO" });
    await api.pollToDone(await api.importBody(`/v2/packages/acme/${id}/import`, line));
  };
  const answer = await member.request("/api/v2/acme/live/stream");
  expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
  let text = "";
  const ended = (async () => {
    for await (const part of answer.body ?? []) text += Buffer.from(part).toString();
  })();
  await arrive(tools, "seen-1");
  await expect.poll(() => text).toMatch(/"version":"seen-1","country":"NO".*"name":"tools"/);
  expect(text).not.toMatch(/address|agent|city|latitude/);
  const level = (permissionLevel: string) =>
    api.request(`/v1/packages/${tools}/permissions`, {
      method: "POST",
      body: JSON.stringify({ userQuery: "mate", permissionLevel }),
    });
  await level("blocked");
  // Rights are read before each comment; the first may have been under way.
  const comments = () => text.split("\n\n").filter((each) => each === ":").length;
  const before = comments();
  await expect.poll(comments).toBeGreaterThan(before + 1);
  await arrive(tools, "hidden-1");
  await arrive(marker, "seen-2");
  await expect.poll(() => text).toContain("seen-2");
  expect(text).not.toContain("hidden-1");
  expect((await member.get("/o/acme/live")).html).not.toContain("seen-1");
  expect((await owner.get("/o/acme/live")).html).toContain("hidden-1");
  await level("default");
  await api.request("/v1/organizations/acme/users/mate", { method: "DELETE" });
  await ended;
  await api.post("/v1/organizations/acme/users", { username: "mate", role: "member" });
});

test("a range without events says when the first was, and leads there", async () => {
  const empty = await owner.get(`/o/acme/packages/tools?interval=week`);
  const [, link = ""] =
    /<h2>No data for this period<\/h2>.*?<a href="[^"]*dashboard([^"]+)"/s.exec(empty.html) ?? [];
  expect(link).toContain(`startDate=${FIRST_DAY}`);
  const there = await owner.get(link.replaceAll("&amp;", "&"));
  expect(there.html).not.toContain("<h2>No data for this period</h2>");
  expect((await owner.get(`/o/acme/packages/${image}`)).text).toContain("Waiting for your first event");
});

test("a package is deleted once its name is typed, with its numbers", async () => {
  const unsure = await owner.post(settingsOf(tools), { action: "delete", confirm: "tool" });
  expect(unsure.status).toBe(422);
  expect(unsure.text).toContain("must be tools");
  expect((await recordOf(tools)).name).toBe("tools");
  const gone = await owner.submit(settingsOf(tools), { action: "delete", confirm: "tools" });
  expect(gone.text).toContain("Package deleted.");
  expect((await owner.get(`/o/acme/packages/${tools}`)).status).toBe(404);
  expect((await reader.get("/o/acme")).status).toBe(404);
});
