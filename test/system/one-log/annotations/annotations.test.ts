import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { type AuditEntryRecord, SERVICE } from "../../../../schemas/contracts/audit-entry.js";
import { type AnnotationRecord, GRAFANA_TYPE } from "../../../../schemas/contracts/annotation.js";
import { dateAt } from "../../../../schemas/date-range.js";
import { type Visitor, visit } from "../../../support/dashboard/visitor.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";

const OWNER = "noted";
const LIST = `/v2/${OWNER}/annotations`;
const TODAY = dateAt(Date.now());
const HOSTILE = `</title><script>alert("1")</script>&'`;

joinProgram("noter", { organizations: [OWNER] });

let member: ApiClient;
let admin: Visitor;
let reader: Visitor;
let tool: string;

beforeAll(async () => {
  member = await program.newAccount("notemate");
  await api.post(`/v1/organizations/${OWNER}/users`, { username: "notemate", role: "member" });
  tool = (await makePackage(api, { organization: OWNER, name: "tool", libraryType: "other" })).id;
  await makePackage(api, { organization: OWNER, name: "web", libraryType: "other" });
  const line = JSON.stringify({ $time: TODAY, $remote_address: "3.5.140.2", $version: "1.0" });
  await api.pollToDone(await api.importBody(`/v2/packages/${OWNER}/tool/import`, line));
  admin = await visit(program.api, { username: "noter", token: api.token });
  reader = await visit(program.api, { username: "notemate", token: member.token });
});

const add = (body: object) => api.post<AnnotationRecord>(LIST, body);
const listed = async (query = "", as = api) =>
  (await as.get<{ annotations: AnnotationRecord[] }>(`${LIST}?per_page=100${query}`)).annotations;
const remove = async (id: string) =>
  expect((await api.request(`${LIST}/${id}`, { method: "DELETE" })).status).toBe(204);

describe("a note", () => {
  test("is listed for its days and its package, and with those of all", async () => {
    const all = await add({ date: "2025-03-10", end_date: "2025-03-12", text: "Conference" });
    const own = await add({ date: "2025-03-12", text: "Blog", url: "https://example.org/", package: "tool" });
    expect(own).toMatchObject({ kind: "note", owner: OWNER, package_id: tool });
    const idsOf = async (query: string) => (await listed(query)).map(({ id }) => id);
    expect(await idsOf("&startDate=2025-03-11&endDate=2025-03-12")).toEqual([all.id]);
    expect(await idsOf("&startDate=2025-03-12&endDate=2025-03-13")).toEqual([own.id, all.id]);
    expect(await idsOf("&startDate=2025-03-12&endDate=2025-03-13&package=web")).toEqual([all.id]);
    expect(await idsOf("&startDate=2025-03-13&endDate=2025-03-14")).toEqual([]);
    await remove(all.id);
    await remove(own.id);
    expect(await idsOf("&startDate=2025-03-01&endDate=2025-04-01")).toEqual([]);
  });

  test("is listed by its day, whenever it was made, on every page and for Grafana", async () => {
    const days = ["2024-05-03", "2024-05-09", "2024-05-01", "2024-05-09", "2024-05-07"];
    const made: AnnotationRecord[] = [];
    for (const date of days) made.push(await add({ date, text: `On ${date}`, package: "tool" }));
    const [third, early, first, late, middle] = made.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const latestFirst = [late, early, middle, third, first];
    const range = "startDate=2024-05-01&endDate=2024-06-01";
    expect((await listed(`&${range}`)).map(({ id }) => id)).toEqual(latestFirst);

    const seen: string[] = [];
    let next: string | undefined = `${LIST}?per_page=2&${range}`;
    while (next !== undefined) {
      const page: { annotations: AnnotationRecord[]; next?: string } = await api.get(
        next.replace(program.api, ""),
      );
      seen.push(...page.annotations.map(({ id }) => id));
      next = page.next;
    }
    expect(seen).toEqual(latestFirst);
    const shown = await api.request(`${LIST}?${range}`, { headers: { Accept: GRAFANA_TYPE } });
    const times = ((await shown.json()) as { time: number }[]).map(({ time }) => time);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    for (const id of latestFirst) await remove(id);
    const gone = await api.request(`${LIST}?after=${late}`);
    expect([gone.status, await gone.json()]).toMatchObject([400, { code: "invalid-query" }]);
  });

  test("is one of Grafana's by Accept, its text escaped", async () => {
    const { id } = await add({ date: "2025-04-01", text: HOSTILE, url: "https://example.org/?a=1&b=2" });
    const range = "startDate=2025-04-01&endDate=2025-04-02";
    const answer = await api.request(`${LIST}?${range}`, { headers: { Accept: GRAFANA_TYPE } });
    expect(answer.headers.get("content-type")).toContain(GRAFANA_TYPE);
    const [shown] = (await answer.json()) as {
      time: number;
      timeEnd: number;
      text: string;
      tags: string[];
    }[];
    expect(shown).toMatchObject({
      time: Date.UTC(2025, 3, 1),
      timeEnd: Date.UTC(2025, 3, 2) - 1,
      tags: ["note"],
    });
    expect(shown?.text).toContain("&#60;script&#62;");
    expect(shown?.text).toContain('<a href="https://example.org/?a=1&#38;b=2" rel="noopener">');
    await remove(id);
  });

  test.each([
    [{ date: "2026-02-30", text: "x" }, "/date"],
    [{ date: "2026-02-03", text: "" }, "/text"],
    [{ date: "2026-02-03", text: "x".repeat(201) }, "/text"],
    [{ date: "2026-02-03", text: "two\nlines" }, "/text"],
    [{ date: "2026-02-03", end_date: "2026-02-02", text: "x" }, "/end_date"],
    [{ date: "2026-02-03", text: "x", url: "javascript:alert(1)" }, "/url"],
    [{ date: "2026-02-03", text: "x", package: "none" }, "/package"],
    [{ date: "2026-02-03", text: "x", tags: [] }, "/tags"],
  ])("%j is refused at %s", async (body, path) => {
    const answer = await api.request(LIST, { method: "POST", body: JSON.stringify(body) });
    expect(answer.status).toBe(422);
    expect(((await answer.json()) as { errors: { path: string }[] }).errors[0]?.path).toBe(path);
  });

  test("of a package is not there for a member who is blocked from it", async () => {
    const { id } = await add({ date: "2025-05-01", text: "Secret", package: "tool" });
    const set = (permissionLevel: string) =>
      api
        .post(`/v1/packages/${tool}/permissions`, { userQuery: "notemate", permissionLevel })
        .catch(() => undefined);
    const query = "&startDate=2025-05-01&endDate=2025-05-02";
    expect(await listed(query, member)).toHaveLength(1);
    await set("blocked");
    expect(await listed(query, member)).toEqual([]);
    await set("default");
    await remove(id);
  });
});

describe("a release event of GitHub", () => {
  const RELEASE = {
    action: "published",
    release: {
      tag_name: "v2.0.0",
      name: "Two",
      html_url: "https://github.com/noted/tool/releases/tag/v2.0.0",
      published_at: "2025-06-02T09:00:00Z",
    },
    repository: { full_name: "noted/tool" },
  };
  const QUERY = "&startDate=2025-06-01&endDate=2025-07-01";
  let secret: string;
  beforeAll(async () => {
    ({ secret } = await api.post<{ secret: string }>(`/v2/${OWNER}/annotation-secret`, {}));
  });

  const send = async (event: object, { key = secret, owner = OWNER, query = "", kind = "release" } = {}) => {
    const body = JSON.stringify(event);
    const signature = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
    const headers = {
      "X-GitHub-Event": kind,
      "X-Hub-Signature-256": signature,
      "Content-Type": "application/json",
    };
    const answer = await fetch(`${program.api}/v2/${owner}/annotations/github${query}`, {
      method: "POST",
      headers,
      body,
    });
    return { status: answer.status, text: await answer.text() };
  };

  test("adds the release once, also at once, again, and after it was deleted", async () => {
    const both = await Promise.all([
      send(RELEASE, { query: "?package=tool" }),
      send(RELEASE, { query: "?package=tool" }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 204]);
    const [release, ...others] = await listed(QUERY);
    expect(others).toEqual([]);
    expect(release).toMatchObject({ text: "Two", kind: "release", package_id: tool, date: "2025-06-02" });
    await remove(release?.id ?? "");
    expect((await send(RELEASE)).status).toBe(204);
    expect(await listed(QUERY)).toEqual([]);
  });

  test("with as many files as GitHub takes is read, and is in the audit log", async () => {
    const text = "x".repeat(1_000);
    const fields = Object.fromEntries(Array.from({ length: 18 }, (_, at) => [`field_${at}`, "y".repeat(50)]));
    const asset = { ...fields, label: text, uploader: fields };
    const release = { ...RELEASE.release, tag_name: "v3.0.0", name: "Three" };
    const assets = Array.from({ length: 1_000 }, () => asset);
    const event = { ...RELEASE, release: { ...release, body: "\u00e9".repeat(125_000), assets } };
    expect(JSON.stringify(event).length).toBeGreaterThan(3_000_000);
    expect((await send(event, { query: "?package=tool" })).status).toBe(201);
    const [{ id } = { id: "" }] = await listed(QUERY);
    const query = `?action=annotations.add-releases&actor=${SERVICE}`;
    const { audit_entries: entries } = await api.get<{ audit_entries: AuditEntryRecord[] }>(
      `/v2/${OWNER}/audit${query}`,
    );
    expect(entries[0]).toMatchObject({
      actor: SERVICE,
      target: { kind: "annotation", id, name: "Three" },
      changes: { date: "2025-06-02", package_id: tool },
    });
    await remove(id);
  });

  test("is refused alike with another signature, for another owner and for none", async () => {
    const refused = await Promise.all([
      send(RELEASE, { key: "guess" }),
      send(RELEASE, { owner: "noter" }),
      send(RELEASE, { owner: "nobody-here" }),
      send(RELEASE, { owner: "a%00b" }),
    ]);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
  });

  test("of another kind changes nothing, and a package that is not there is named", async () => {
    expect((await send({ zen: "ping" })).status).toBe(204);
    expect((await send(RELEASE, { kind: "push" })).status).toBe(204);
    expect(await send(RELEASE, { query: "?pakage=tool" })).toMatchObject({ status: 400 });
    expect(await send(RELEASE, { query: "?package=none" })).toMatchObject({ status: 404 });
    expect(await listed(QUERY)).toEqual([]);
  });

  test("is refused after its secret has ended or was made anew", async () => {
    const before = secret;
    ({ secret } = await api.post<{ secret: string }>(`/v2/${OWNER}/annotation-secret`, {}));
    expect((await send(RELEASE, { key: before })).status).toBe(401);
    await api.request(`/v2/${OWNER}/annotation-secret`, { method: "DELETE" });
    expect((await send(RELEASE)).status).toBe(401);
  });
});

describe("on the pages", () => {
  const SETTINGS = `/o/${OWNER}/settings/annotations`;

  test("a form without script adds a note, which every chart shows, escaped, by keyboard and in its table", async () => {
    const form = {
      action: "create",
      date: TODAY,
      end_date: "",
      text: HOSTILE,
      url: "https://example.org/n",
      package: tool,
    };
    expect((await admin.submit(SETTINGS, form)).text).toContain("Annotation added.");
    for (const page of [`/o/${OWNER}/packages/tool`, `/o/${OWNER}`]) {
      const { html } = await reader.get(page);
      expect(html).not.toContain("<script>alert");
      const charts = html.split('<figure class="chart">').slice(1);
      expect(charts.length).toBeGreaterThan(0);
      for (const chart of charts) {
        const marks = /<svg class="marks"[\s\S]*?<\/svg>/.exec(chart)?.[0] ?? "";
        expect(marks).toContain('<a href="https://example.org/n" rel="noopener noreferrer"');
        expect(marks).toContain("&lt;/title>");
        expect(chart).toMatch(/<th scope="col"[^>]*>Annotations<\/th>/);
        expect(chart).toMatch(
          /<td[^>]*><a href="https:\/\/example.org\/n" rel="noopener noreferrer"><bdi>&lt;/,
        );
      }
    }
    expect((await reader.get(`/o/${OWNER}/packages/web`)).html).not.toContain('class="marks"');
    const [{ id } = { id: "" }] = await listed(
      `&startDate=${TODAY}&endDate=2100-01-01`.replace("2100-01-01", dateAt(Date.now() + 86_400_000)),
    );
    expect((await admin.submit(SETTINGS, { action: `delete ${id}` })).text).toContain("Annotation deleted.");
    expect((await reader.get(`/o/${OWNER}/packages/tool`)).html).not.toContain('class="marks"');
  });

  test("a fault stands beside its field, and a member has no form", async () => {
    const refused = await admin.post(SETTINGS, { action: "create", date: TODAY, text: "x", url: "ftp://a" });
    expect(refused.status).toBe(422);
    expect(refused.html).toContain("must be a URL that begins with http");
    expect((await reader.get(SETTINGS)).html).not.toContain("New annotation");
  });

  test("the secret for GitHub is shown once", async () => {
    const { text } = await admin.post(SETTINGS, { action: "make-secret" });
    expect(text).toMatch(/[0-9a-f]{64}/);
    expect((await admin.get(SETTINGS)).text).not.toMatch(/[0-9a-f]{64}/);
  });
});
