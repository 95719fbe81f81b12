import { gzipSync } from "node:zlib";
import { formatSize } from "../../../../schemas/records/format-size.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { openReceiver, type Receiver } from "../../../support/api/receivers.js";
import { openBrowser } from "../../../support/dashboard/open-browser.js";
import { visit, type Visitor } from "../../../support/dashboard/visitor.js";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

let toolchain: Toolchain;
let api: ApiClient;
let tools: KnownArtifact;
let receiver: Receiver;
let owner: Visitor;
let member: Visitor;
let outsider: Visitor;

beforeAll(async () => {
  const env = { FUNNEL_SCHEDULE: "0 0 29 2 *", WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" };
  [toolchain, receiver] = await Promise.all([
    startToolchain({ env, prepared: ["databases", "places"] }),
    openReceiver(),
  ]);
  api = await toolchain.newAccount("ada");
  await makeOrganization(api, "acme");
  await toolchain.admin("grant-export", "acme");
  tools = await makePackage(api, { organization: "acme", name: "tools", libraryType: "other" });
  const mate = await toolchain.newAccount("mate");
  const stranger = await toolchain.newAccount("stranger");
  await api.post("/v1/organizations/acme/users", { username: "mate", role: "member" });
  [owner, member, outsider] = await Promise.all([
    visit(toolchain.api, { username: "ada", token: api.token }),
    visit(toolchain.api, { username: "mate", token: mate.token }),
    visit(toolchain.api, { username: "stranger", token: stranger.token }),
  ]);
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await toolchain?.close();
});

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&");
}

const HOSTILE = '<script>alert("x")</script>';

async function importLines(lines: readonly string[]): Promise<EventImport> {
  return api.pollToDone(await api.importBody(`/v2/packages/acme/${tools.id}/import`, lines.join("\n")));
}

const line = (fields: object = {}) => JSON.stringify({ $time: new Date().toISOString(), ...fields });

test.each([
  ["an owner", () => owner, ["Files", "Import", "Page"]],
  ["a member", () => member, ["Files"]],
  ["a stranger", () => outsider, []],
] as const)("search finds for %s what they may see of acme", async (_, who, kinds) => {
  await importLines([line()]);
  const found = async (text: string) => {
    const { html } = await who().get(`/search?q=${text}`);
    return [...html.matchAll(/<\/th><td[^>]*>([A-Z]\w+)<\/td><td[^>]*>acme</g)].map(([, kind = ""]) => kind);
  };
  const all = [...(await found("TOOL")), ...(await found("webhooks"))];
  expect([...new Set(all)].sort()).toEqual(kinds);
});

describe("the pages of imports", () => {
  test("show an import with its faults by type, hostile lines as text, and what was refused byte for byte", async () => {
    const refused = [`${HOSTILE} \u202e`, "no JSON"];
    const { id } = await importLines([line(), ...refused, line({ $remote_address: "here" }), "{}"]);
    expect((await owner.get("/o/acme/imports")).text).toMatch(
      /tools Done, 3 rejected ada (just now|.* ago) 5 3/,
    );
    const { text, html } = await owner.get(`/o/acme/imports/${id}`);
    expect(text).toMatch(/Doesn't match the file format Rejected 2 lines/);
    expect(text).toMatch(/Missing \$time Rejected 1 line /);
    expect(text).toContain(HOSTILE);
    expect(html).not.toContain("<script>alert");
    const rejected = await owner.request(`/api/v2/imports/acme/${id}/rejected`);
    expect(await rejected.text()).toBe([...refused, "{}", ""].join("\n"));
  });

  test("show an import's skipped lines, its warnings, and the size of its file as well as of what was sent", async () => {
    const log = (path: string) =>
      `198.51.100.9 - - [10/Mar/2025:08:00:00 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "curl/8.5.0"`;
    const plain = [
      ...Array.from({ length: 292 }, () => log("/favicon.ico")),
      ...Array.from({ length: 8 }, () => log("/tool")),
    ];
    const bytes = Buffer.from(plain.join("\n"));
    const packed = gzipSync(bytes);
    const path = `/v2/packages/acme/${tools.id}/import?format=combined&path=/tool`;
    const headers = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
    const started = await owner.request(`/api${path}`, {
      method: "POST",
      body: new Uint8Array(packed),
      headers,
    });
    const { id } = (await started.json()) as { id: string };
    const shown = async () => (await owner.get(`/o/acme/imports/${id}`)).text;
    await expect.poll(shown, { timeout: 30_000 }).toContain("Skipped 292");
    expect(await shown()).toMatch(/Lines 300 Imported 8 With warnings 0 Rejected 0 Skipped 292/);
    expect(await shown()).toContain(
      `${formatSize(bytes.length)} received (${formatSize(packed.length)} compressed)`,
    );
    const { html } = await owner.get(`/o/acme/imports/${id}`);
    for (const name of ["lines", "events_successfully_imported", "events_with_warnings", "lines_skipped"])
      expect(html).toContain(`data-count="${name}"`);
  });

  test("take a file by the session, from pages of this service alone", async () => {
    const init = { method: "POST", body: line(), headers: { "Content-Type": "application/ndjson" } };
    const path = `/api/v2/packages/acme/${tools.id}/import`;
    const answer = await owner.request(`${path}?dryRun=true`, init);
    expect(await answer.json()).toMatchObject({ dry_run: true, events_successfully_imported: 1 });
    const foreign = { ...init, headers: { ...init.headers, "Sec-Fetch-Site": "same-site" } };
    expect((await owner.request(path, foreign)).status).toBe(403);
    const page = await owner.get(`/o/acme/imports/new?package=${tools.id}`);
    expect(page.text).toContain(`/v2/packages/acme/${tools.id}/import`);
  });

  test("undo an import once that is confirmed by typing", async () => {
    const { id } = await importLines([line({ version: "9.9.9" })]);
    const path = `/o/acme/imports/${id}`;
    const unsure = await owner.post(path, { action: "retract", confirm: "yes" });
    expect(unsure).toMatchObject({ status: 422 });
    expect(unsure.text).toContain("must be undo");
    const { text } = await owner.submit(path, { action: "retract", confirm: "undo" });
    expect(text).toMatch(/Import undone|Undoing the import/);
    await expect.poll(async () => (await owner.get(path)).text).toContain("Undone");
    expect((await owner.get(path)).html).not.toContain('value="retract"');
  });

  test("say what cannot be: an import that is done is not stopped", async () => {
    const { id } = await importLines([line()]);
    const page = await owner.post(`/o/acme/imports/${id}`, { action: "abort" });
    expect(page).toMatchObject({ status: 409 });
  });
});

describe("the pages of companies", () => {
  test("show companies by stage, and how one came to its stage", async () => {
    await importLines([line({ $remote_address: "140.94.0.1" }), line({ $remote_address: "140.94.0.1" })]);
    const list = await owner.submit("/o/acme/companies", { action: "run" });
    expect(list.text).toContain("Stages updated.");
    expect(list.text).toMatch(/All 1 .*Investigation 1/);
    expect(list.text).toContain("airbus.com");
    expect((await owner.get("/o/acme/companies?search=nobody")).text).toContain(
      "No companies match this search.",
    );
    const listed = (query: string) => owner.get(`/o/acme/companies?${query}`);
    expect((await listed("")).html).toMatch(/aria-sort="descending"><a href="[^"]*sort=score"[^>]*>Score/);
    expect((await listed("sort=name&new=week&package=tools")).text).toContain("airbus.com");
    const found = await listed("search=nobody,+AIRB");
    const [, versions = ""] =
      /href="[^"]*?(\/o\/acme\/packages\/[^"]*company_domain=airbus\.com[^"]*)"/.exec(found.html) ?? [];
    expect((await owner.get(versions.replaceAll("&amp;", "&"))).text).toMatch(/Versions tools .*airbus\.com/);
    expect((await listed("stage=inactive&package=tools")).text).toContain(
      "No companies match these filters.",
    );
    const { text } = await owner.get("/o/acme/companies/airbus.com");
    expect(text).toMatch(/Investigation .*: downloaded a package/);
    expect(text).toMatch(/Packages used .*tools 2 0/);
    const csv = await owner.request("/api/v2/acme/companies?accept=text/csv");
    expect(await csv.text()).toContain("airbus.com");
  });
});

describe("the pages of webhooks", () => {
  const LIST = "/o/acme/webhooks";
  let at: string;

  test("create one, and show its secret that once", async () => {
    const wrong = await owner.post(LIST, {
      action: "create",
      url: "gopher://x",
      event_kinds: "company-funnel-stage-changed",
    });
    expect(wrong.status).toBe(422);
    expect(wrong.html).toMatch(/value="gopher:\/\/x"[^>]*|aria-invalid/);
    expect(wrong.html).toContain('aria-invalid="true"');
    const sent = { action: "create", url: receiver.url, event_kinds: "company-funnel-stage-changed" };
    const made = await owner.post(LIST, sent);
    expect(made.text).toMatch(/whsec_[A-Za-z0-9+/]{43}=/);
    const list = await owner.get(LIST);
    expect(list.html).not.toContain("whsec_");
    at = `${LIST}/${/webhooks\/([0-9a-f-]{36})/.exec(list.html)?.[1] ?? ""}`;
    expect(list.text).toContain(`${receiver.url} Enabled – No deliveries`);
  });

  test("test it, and show what it answered, then and in the log", async () => {
    const tested = await owner.post(at, { action: "test" });
    expect(tested.text).toMatch(
      /Test event delivered The receiver returned status 200 after \d+ ms\. thank you/,
    );
    expect((await owner.get(at)).text).toMatch(/Delivered Test event 200,/);
    expect((await owner.get(`${at}?state=failed`)).text).toContain("No deliveries with this status.");
    expect((await owner.get(LIST)).text).toContain("1 delivered");
  });

  test("send a delivery again", async () => {
    const before = receiver.received.length;
    const [, delivery = ""] = /name="delivery" value="([^"]+)"/.exec((await owner.get(at)).html) ?? [];
    expect((await owner.submit(at, { action: "resend", delivery })).text).toContain("Delivery retry queued.");
    await expect.poll(() => receiver.received.length).toBe(before + 1);
  });

  test("turn it off and on, and give it a new secret", async () => {
    expect((await owner.submit(at, { action: "disable" })).text).toContain("Webhook disabled.");
    expect((await owner.get(LIST)).text).toContain(`${receiver.url} Disabled`);
    expect((await owner.submit(at, { action: "enable" })).text).toContain("Webhook enabled.");
    expect((await owner.post(at, { action: "rotate" })).text).toMatch(/whsec_[A-Za-z0-9+/]{43}=/);
    expect((await owner.get(at)).text).toContain("Revoke old secret");
    expect((await owner.submit(at, { action: "end-old-secret" })).text).not.toContain("Revoke old secret");
  });

  test("show a refused change again, with what was sent and its fault", async () => {
    const url = `ftp://${"a".repeat(20)}"><script>`;
    const page = await owner.post(at, { action: "change", url, event_kinds: "company-funnel-stage-changed" });
    expect(page.status).toBe(422);
    expect(page.html).toContain("&quot;>&lt;script>".replace("&quot;>", "&quot;>"));
    expect((await owner.submit(at, { action: "delete" })).text).toContain(
      "Webhook and its delivery log deleted.",
    );
  });
});

describe("the settings", () => {
  const SETTINGS = "/o/acme/settings";

  test("add, change and remove a member", async () => {
    const unknown = await owner.post(SETTINGS, { action: "add", username: "nobody", role: "member" });
    expect(unknown.status).toBe(422);
    expect(unknown.html).toContain('value="nobody"');
    expect(unknown.text).toContain("is not an existing user");
    expect(
      (await owner.submit(SETTINGS, { action: "add", username: "stranger", role: "member" })).text,
    ).toContain("Member added.");
    expect((await owner.submit(SETTINGS, { action: "role stranger", role: "admin" })).text).toContain(
      "Role changed.",
    );
    expect((await owner.submit(SETTINGS, { action: "remove stranger" })).text).toContain("Member removed.");
  });

  test("keep the last owner, and say why", async () => {
    const page = await owner.get(SETTINGS);
    expect(page.text).toContain("The last owner can't be removed");
    expect(page.html).not.toContain('value="remove ada"');
    expect((await owner.post(SETTINGS, { action: "remove ada" })).status).toBe(422);
  });

  test("change the organization's record", async () => {
    const sent = { action: "change", name: "acme", description: HOSTILE, website: "", billingEmail: "no" };
    const refused = await owner.post(`${SETTINGS}/organization`, sent);
    expect(refused.status).toBe(422);
    expect(refused.html).not.toContain("<script>alert");
    expect(refused.text).toContain("Nothing was saved. Check these fields: Billing email must be");
    expect(refused.text).not.toContain("billingEmail");
    const changed = await owner.submit(`${SETTINGS}/organization`, {
      ...sent,
      billingEmail: "pay@example.org",
    });
    expect(changed.text).toContain("Organization saved.");
  });

  test("tell the second of two who save the same record what it is now, and take what is saved again", async () => {
    const at = `${SETTINGS}/organization`;
    const formOf = ({ html }: { html: string }) => {
      const before = /name="before" value="([^"]*)"/.exec(html)?.[1] ?? "";
      return {
        action: "change",
        name: "acme",
        website: "",
        billingEmail: "pay@example.org",
        before: unescaped(before),
      };
    };
    const opened = formOf(await owner.get(at));
    await owner.submit(at, { ...opened, description: "Of the first" });
    const told = await owner.post(at, { ...opened, description: "Of the second" });
    expect(told.status).toBe(412);
    expect(told.text).toContain("Description is now Of the first");
    expect(told.html).toContain(">Of the second</textarea>");
    const saved = await owner.submit(at, { ...formOf(told), description: "Of the second" });
    expect(saved.text).toContain("Organization saved.");
    expect(saved.html).toContain(">Of the second</textarea>");
  });

  test("take nothing where the session ended meanwhile, and the same form once there is another", async () => {
    const browser = openBrowser({ url: toolchain.api });
    const signIn = { action: "sign-in", username: "ada", secret: api.token, to: "" };
    const [at, text] = [`/dashboard${SETTINGS}/organization`, "typed before"];
    const typed = { action: "change", name: "acme", billingEmail: "pay@example.org", description: text };
    const refused = await browser.post(at, typed);
    expect(refused.status).toBe(401);
    expect(refused.html).toContain("reload");
    expect(refused.html).not.toContain(text);
    await browser.post("/dashboard/sign-in", signIn);
    expect((await browser.post(at, typed)).status).toBe(303);
    expect((await owner.get(`${SETTINGS}/organization`)).html).toContain(`>${text}</textarea>`);
  });

  test("change the permissions, routes and domains of a package", async () => {
    const at = `${SETTINGS}/packages/${tools.id}`;
    const steps: [Record<string, string>, string][] = [
      [{ action: "permission", userQuery: "mate", permissionLevel: "blocked" }, "Permission saved."],
      [{ action: "permission", userQuery: "mate", permissionLevel: "default" }, "Permission saved."],
      [{ action: "add-route", templatePath: "/get/{version}", outgoingUrl: "" }, "Route added."],
      [{ action: "add-domain", name: "files.acme.example" }, "Domain added."],
    ];
    for (const [fields, notice] of steps) expect((await owner.submit(at, fields)).text).toContain(notice);
    const again = await owner.post(at, { action: "add-route", templatePath: "/get/{v}", outgoingUrl: "" });
    expect(again.status).toBe(422);
    expect(again.text).toContain("matches exactly the same requests as the route");
    const { html } = await owner.get(at);
    for (const action of [/remove-route [0-9a-f-]+/, /remove-domain [0-9a-f-]+/])
      expect((await owner.submit(at, { action: action.exec(html)?.[0] ?? "" })).text).toContain(" removed.");
  });

  test("list what was changed, by page and by who did it", async () => {
    const { text, html } = await owner.get(`${SETTINGS}/audit?actor=ada&action=members.write`);
    expect(text).toContain("members.write member stranger");
    expect(html).not.toContain("<script>alert");
    expect((await owner.get(`${SETTINGS}/audit?actor=mate`)).text).toContain(
      "No entries match these filters.",
    );
  });
});

describe("who may not", () => {
  test.each(["/imports", "/imports/new", "/webhooks", "/settings/audit"])(
    "a member does not see %s",
    async (path) => {
      expect((await member.get(`/o/acme${path}`)).status).toBe(403);
    },
  );

  test("a member sees the settings without any form, and is refused what they post", async () => {
    for (const path of ["", "/organization", `/packages/${tools.id}`]) {
      const { html, status } = await member.get(`/o/acme/settings${path}`);
      const main = html.slice(html.indexOf("<main"));
      expect(status).toBe(200);
      expect(main.replace(/<form[^>]*>.*?value="remove mate".*?<\/form>/, "")).not.toContain("<form");
    }
    const posts: [string, Record<string, string>][] = [
      ["/settings", { action: "add", username: "stranger", role: "member" }],
      ["/settings", { action: "role ada", role: "member" }],
      [
        "/settings/organization",
        { action: "change", name: "acme", description: "", billingEmail: "a@example.org" },
      ],
      [
        `/settings/packages/${tools.id}`,
        { action: "permission", userQuery: "mate", permissionLevel: "admin" },
      ],
      ["/webhooks", { action: "create", url: receiver.url, event_kinds: "company-funnel-stage-changed" }],
    ];
    for (const [path, fields] of posts)
      expect((await member.post(`/o/acme${path}`, fields)).status).toBe(403);
  });

  test.each([
    "/imports",
    "/imports/new",
    "/companies",
    "/webhooks",
    "/settings",
    "/settings/packages",
    "/settings/audit",
  ])("an outsider finds nothing at %s", async (path) => {
    const { status, text } = await outsider.get(`/o/acme${path}`);
    expect(status).toBe(404);
    expect(text).not.toContain("tools");
  });
});
