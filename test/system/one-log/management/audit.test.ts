import { afterAll, describe, expect, test } from "vitest";
import { v7 as uuidv7 } from "uuid";
import { insertAccessEntry, insertAuditEntry } from "../../../../api/base/access/audit-entries.js";
import { companyRoutes } from "../../../../api/features/companies/company-routes.js";
import { inTransaction } from "../../../../api/base/postgres/connection.js";
import { openBrowser } from "../../../support/dashboard/open-browser.js";
import { rotateToken } from "../../../../api/base/identity/accounts.js";
import { importEndingRoutes } from "../../../../api/features/imports/import-ending-routes.js";
import { importRoutes } from "../../../../api/features/imports/import-routes.js";
import { putDeadLetter, dropDeadLetters } from "../../../../api/features/imports/dead-letters.js";
import { switchExport } from "../../../../api/features/exports/export-grants.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import type { AuditEntryRecord } from "../../../../schemas/contracts/audit-entry.js";
import type { EventLog } from "../../../../schemas/records/event-log.js";
import { idOf, TIMESTAMP, UUID, type Who } from "../../../support/api/management-world.js";
import { api, as, openTestLog, postgres, refused, useWorld, world } from "../../../support/api/use-world.js";

let eventLog: EventLog;

useWorld(async ({ pg }) => {
  eventLog = await openTestLog();
  const active = new ActiveUploads();
  const imports = [...importRoutes({ pg, eventLog, active }), ...importEndingRoutes({ pg, active })];
  return {
    trustsProxy: () => true,
    routes: [...imports, ...companyRoutes({ pg, clickhouse: undefined as never })],
  };
});

afterAll(() => eventLog?.[Symbol.asyncDispose]());

async function entriesOf(owner: string, query = "", token = world.tokens.owner): Promise<AuditEntryRecord[]> {
  const { body } = await api.call(token, `GET /v2/${owner}/audit${query}`);
  return (body as { audit_entries: AuditEntryRecord[] }).audit_entries;
}

async function ownerNamed(name: string): Promise<{ id: string }> {
  const { rows } = await postgres.pg.query<{ id: string }>("select id from owners where name = $1", [name]);
  return rows[0] as { id: string };
}

const rename = (who: Who, description: string) =>
  as(who, `PUT /v1/organizations/${world.organization}`, {
    name: world.organization,
    description,
    billingEmail: "pay@acme.example",
  });

describe("the audit log", () => {
  test("says who changed what, when and in which request, newest first", async () => {
    const changed = await rename("admin", "Other things");
    const [latest, first, ...rest] = await entriesOf(world.organization.toLowerCase());
    const id = expect.stringMatching(UUID) as string;
    const target = { kind: "organization", id, name: world.organization };
    expect(latest).toEqual({
      id,
      action: "organization.update",
      actor: world.names.admin,
      target,
      changes: { description: "Other things", updatedAt: expect.stringMatching(TIMESTAMP) as string },
      request_id: changed.headers.get("x-request-id"),
      created_at: expect.stringMatching(TIMESTAMP) as string,
    });
    expect(first).toMatchObject({ action: "organization.create", actor: world.names.owner, target });
    expect((latest?.created_at ?? "") > (first?.created_at ?? "")).toBe(true);
    expect(rest).toEqual([]);
  });

  test("has the request's id of the service, and never one that the caller chose", async () => {
    const answer = await fetch(`${api.url}/v1/user/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.tokens.owner}`, "x-request-id": "request.of.another" },
      body: JSON.stringify({ name: "ci", scopes: ["read"] }),
    });
    expect(answer.status).toBe(201);
    const [latest] = await entriesOf(world.names.owner);
    expect(latest?.request_id).toBe(answer.headers.get("x-request-id"));
    expect(latest?.request_id).toMatch(UUID);
  });

  test("names the additional token by which it was done", async () => {
    const token = await api.limitedToken(world.tokens.owner, { name: "terraform", scopes: ["manage"] });
    await api.call(token, `PUT /v1/organizations/${world.organization}`, {
      name: world.organization,
      description: "By a program",
      billingEmail: "pay@acme.example",
    });
    const [latest] = await entriesOf(world.organization, "", token);
    expect(latest).toMatchObject({ actor: world.names.owner, token: "terraform" });
  });

  test("is the user's alone where a user is the owner", async () => {
    const { names, tokens } = world;
    expect((await api.call(tokens.member, `GET /v2/${names.member}/audit`)).status).toBe(200);
    expect((await api.call(tokens.owner, `GET /v2/${names.member}/audit`)).status).toBe(404);
    expect((await api.call(tokens.owner, "GET /v2/nobody/audit")).status).toBe(404);
  });

  test("is read page after page, each entry once", async () => {
    for (const text of ["one", "two", "three"]) await rename("owner", text);
    const seen: AuditEntryRecord[] = [];
    let path: string | undefined = `/v2/${world.organization}/audit?per_page=3`;
    while (path !== undefined) {
      const { body } = await as("owner", `GET ${path}`);
      const page = body as { audit_entries: AuditEntryRecord[]; next?: string };
      seen.push(...page.audit_entries);
      path = page.next?.slice(api.url.length);
    }
    expect(seen).toEqual(await entriesOf(world.organization));
    expect(seen.map(({ changes }) => changes["description"])).toEqual(["three", "two", "one", "Things"]);
  });

  test("is narrowed to an action and an actor, on every page", async () => {
    const { organization, names } = world;
    await rename("admin", "one");
    await rename("owner", "two");
    await rename("admin", "three");
    const described = async (query: string) =>
      (await entriesOf(organization, query)).map(({ changes }) => changes["description"]);
    expect(await described("?action=organization.create")).toEqual(["Things"]);
    expect(await described(`?actor=${names.admin.toUpperCase()}`)).toEqual(["three", "one"]);
    expect(await described(`?actor=${names.owner}&action=organization.update`)).toEqual(["two"]);
    expect(await described(`?actor=${names.stranger}`)).toEqual([]);
    const { body } = await as("owner", `GET /v2/${organization}/audit?actor=${names.admin}&per_page=1`);
    const { next = "" } = body as { next?: string };
    const second = await as("owner", `GET ${next.slice(api.url.length)}`);
    expect(second.body).toMatchObject({ audit_entries: [{ changes: { description: "one" } }] });
    expect(second.body).not.toHaveProperty("next");
  });

  test.each(["action=delete-all", "action=x&action=y", "actor=a%20b", "actor=%00", "per_page=0", "after=1"])(
    "cannot be asked for %s",
    async (query) => {
      const answer = await as("owner", `GET /v2/${world.organization}/audit?${query}`);
      expect(answer).toMatchObject(refused(400, "invalid-query"));
    },
  );

  test("has what changes nothing once a minute, by whom and what it was, and every change", async () => {
    const target = { kind: "webhook", id: "1", name: "https://a.example" } as const;
    const { id: ownerId } = await ownerNamed(world.organization);
    const { id: accountId } = await ownerNamed(world.names.admin);
    const by = { accountId, tokenName: undefined, requestId: "1" };
    const entry = { ownerId, by, target, action: "webhooks.manage" } as const;
    const tested = { ...entry, changes: { test: true }, isRepeatable: true } as const;
    const others = [
      { ...tested, by: { ...by, tokenName: "ci" } },
      { ...tested, target: { ...target, id: "2" } },
      { ...tested, changes: { redelivered: true } },
    ];
    for (const each of [tested, tested, ...others, ...others, tested])
      await insertAuditEntry(postgres.pg, each);
    const rotated = { ...entry, changes: { secret: "rotated" } };
    for (const each of [rotated, rotated]) await insertAuditEntry(postgres.pg, each);
    const unchanged = { ...entry, changes: {} };
    for (const each of [unchanged, unchanged]) await insertAuditEntry(postgres.pg, each);
    await postgres.pg.query("update audit_entries set id = $2 where changes = '{}' and owner_id = $1", [
      ownerId,
      uuidv7({ msecs: Date.now() - 61_000 }),
    ]);
    await insertAuditEntry(postgres.pg, unchanged);
    const kept = await entriesOf(world.organization, "?action=webhooks.manage");
    expect(kept.map(({ changes }) => changes)).toEqual([
      {},
      { secret: "rotated" },
      { secret: "rotated" },
      { redelivered: true },
      { test: true },
      { test: true },
      { test: true },
      {},
    ]);
  });

  test("has a record that is saved again as it was once a minute", async () => {
    for (let time = 0; time < 4; time += 1) await rename("admin", "The same");
    const kept = await entriesOf(world.organization, "?action=organization.update");
    expect(kept.map(({ changes }) => Object.keys(changes).toSorted())).toEqual([
      ["updatedAt"],
      ["description", "updatedAt"],
    ]);
  });

  test("has nothing of a change that was refused", async () => {
    const before = await entriesOf(world.organization);
    await rename("member", "Mine");
    await as("owner", `PUT /v1/organizations/${world.organization}`, {
      name: world.names.stranger,
      description: "",
      billingEmail: "pay@acme.example",
    });
    expect(await entriesOf(world.organization)).toEqual(before);
  });
});

describe("a user's audit log", () => {
  test("has the account's tokens, never their secrets", async () => {
    const { names, tokens } = world;
    const created = await api.call(tokens.owner, "POST /v1/user/tokens", { name: "ci", scopes: ["read"] });
    await api.call(tokens.owner, `DELETE /v1/user/tokens/${idOf(created)}`);
    const rotated = (await api.call(tokens.owner, "POST /v1/user/token")).body as { token: string };
    const entries = await entriesOf(names.owner, "", rotated.token);
    const target = { kind: "token", id: idOf(created), name: "ci" };
    expect(entries).toMatchObject([
      { action: "user.rotate-token", actor: names.owner, target: { kind: "user", name: names.owner } },
      { action: "tokens.revoke", actor: names.owner, target },
      { action: "tokens.create", actor: names.owner, target, changes: { name: "ci", scopes: ["read"] } },
      { action: "account.create", actor: "(operator)" },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/mtk_/);
  });

  test("tells what the operator did", async () => {
    const { pg } = postgres;
    const { names } = world;
    await switchExport(pg, { name: names.owner.toUpperCase(), exportEnabled: true });
    await switchExport(pg, { name: names.owner, exportEnabled: false });
    const { token } = await rotateToken({ pg, tokens: api.tokens }, names.owner);
    const entries = await entriesOf(names.owner, "?actor=(operator)", token);
    const done = entries.map(({ action, actor, changes }) => [action, actor, changes]);
    expect(done).toEqual([
      ["user.rotate-token", "(operator)", { password: false, sessions: 0, signInLinks: 0, tokens: [] }],
      ["export.revoke", "(operator)", { exportEnabled: false }],
      ["export.grant", "(operator)", { exportEnabled: true }],
      ["account.create", "(operator)", { username: names.owner, email: `${names.owner}@example.org` }],
    ]);
    expect(entries.every((entry) => !("request_id" in entry))).toBe(true);
  });
});

describe("exports", () => {
  const exportCompanies = () =>
    fetch(`${api.url}/v2/${world.organization}/companies?stage=interest`, {
      headers: { authorization: `Bearer ${world.tokens.admin}`, accept: "text/csv" },
    });

  test("are in the owner's log, and do not wait for that", async () => {
    const { pg } = postgres;
    const { organization: name, names } = world;
    await switchExport(pg, { name, exportEnabled: true });
    await inTransaction(pg, async (client) => {
      await client.query("lock table audit_entries in exclusive mode");
      expect((await exportCompanies()).status).toBe(200);
    });
    const exports = () => entriesOf(name, "?action=export.read");
    await expect.poll(exports).toMatchObject([
      {
        actor: names.admin,
        target: { kind: "organization", name },
        changes: { export: "companies", format: "text/csv", stage: "interest" },
        request_id: expect.stringMatching(UUID) as string,
      },
    ]);
  });

  /** Directly, one after the other; the nth is about a thing of its own. */
  async function exported(owner: string, { by, times, changes }: Exported) {
    const { pg } = postgres;
    const { rows } = await pg.query<{ id: string; name: string }>("select id, name from owners");
    const idOfOwner = (name: string) => rows.find((row) => row.name === name)?.id ?? "";
    for (let nth = 1; nth <= times; nth += 1) {
      const target = { kind: "package", id: changes === undefined ? `${nth}` : "one", name: "x" } as const;
      const actor = { accountId: idOfOwner(world.names.owner), tokenName: by, requestId: `${by}-${nth}` };
      const entry = { ownerId: idOfOwner(owner), by: actor, action: "packages.export", target } as const;
      await insertAccessEntry(pg, { ...entry, ...(changes && { changes }) }, 3);
    }
  }

  interface Exported {
    by: string;
    times: number;
    changes?: object;
  }

  test("are kept up to a number of each owner and token, the newest; other entries stay", async () => {
    const { organization, names, tokens } = world;
    const before = await entriesOf(organization);
    await exported(organization, { by: "ci", times: 2 });
    await exported(names.member, { by: "leaked", times: 4 });
    await exported(organization, { by: "leaked", times: 5 });
    const kept = async (name: string, token: string) =>
      (await entriesOf(name, "?action=packages.export", token)).map((entry) => entry.request_id);
    const leaked = ["leaked-5", "leaked-4", "leaked-3"];
    expect(await kept(organization, tokens.owner)).toEqual([...leaked, "ci-2", "ci-1"]);
    expect(await kept(names.member, tokens.member)).toEqual(["leaked-4", "leaked-3", "leaked-2"]);
    expect((await entriesOf(organization)).slice(5)).toEqual(before);
  });

  test("of the same thing by the same token are one entry a minute, and none hides the days of another", async () => {
    const { organization } = world;
    const may = { export: "events", format: "csv", startDate: "2026-05-02", endDate: "2026-05-02" };
    const all = { export: "events", format: "parquet", startDate: "2026-04-01", endDate: "2026-05-01" };
    await exported(organization, { by: "ci", times: 1, changes: may });
    for (const changes of [may, all, may]) await exported(organization, { by: "leaked", times: 5, changes });
    await exported(organization, { by: "leaked", times: 1, changes: { ...may, export: "statistics" } });
    const widened = { export: "events", startDate: "2026-04-01", endDate: "2026-05-02" };
    const changes = async () =>
      (await entriesOf(organization, "?action=packages.export")).map((entry) => entry.changes);
    expect(await changes()).toEqual([{ ...may, export: "statistics" }, widened, may]);
    await postgres.pg.query("update audit_entries set created_at = created_at - interval '1 minute'");
    await exported(organization, { by: "leaked", times: 2, changes: may });
    expect(await changes()).toEqual([may, { ...may, export: "statistics" }, widened, may]);
  });
});

test("failed sign-ins are in the log of the account that they named, once a minute a network and method, at most ten", async () => {
  const { names, tokens } = world;
  const browser = openBrowser({ url: api.url });
  const signIn = (username: string, secret: string, network = "203.0.113") =>
    browser.post(
      "/dashboard/sign-in",
      { action: "sign-in", username, secret, to: "" },
      { "x-forwarded-for": `${network}.7` },
    );
  const entries = () => entriesOf(names.member, "?action=user.sign-in-failed", tokens.member);
  await signIn("nobody-of-this-name", "wrong");
  for (const word of ["wrong", "wrong too"])
    expect((await signIn(names.member.toUpperCase(), word)).status).toBe(401);
  await expect.poll(entries).toHaveLength(1);
  for (let tried = 0; tried < 12; tried += 1)
    await signIn(names.member, `mtk_${"a".repeat(43)}`, `198.51.${tried}`);
  await expect.poll(entries).toHaveLength(9);
  const target = { kind: "user", name: names.member };
  const about = { actor: "(service)", target, request_id: expect.stringMatching(UUID) as string };
  expect((await entries()).slice(-2)).toMatchObject([
    { ...about, changes: { method: "token", network: "198.51.0.0/24" } },
    { ...about, changes: { method: "password", network: "203.0.113.0/24" } },
  ]);
  const { rows } = await postgres.pg.query("select from audit_entries where action = 'user.sign-in-failed'");
  expect(rows).toHaveLength(9);
});

describe("imports", () => {
  const LINE = { $time: "2026-01-01T00:00:00Z" };
  const imports = async (query = "") =>
    (await entriesOf(world.organization, query)).filter(({ target }) => target.kind === "import");

  test("are in the log when they start, are aborted and are retracted, once each", async () => {
    const { organization, names, tokens } = world;
    const started = await api.call(tokens.admin, `POST /v2/${organization}/import`, LINE);
    const path = `/v2/imports/${organization}/${idOf(started)}`;
    await api.call(tokens.owner, `POST ${path}/abort`);
    await api.call(tokens.owner, `POST ${path}/abort`);
    await Promise.all([1, 2, 3].map(() => api.call(tokens.owner, `DELETE ${path}`)));
    const target = { kind: "import", id: idOf(started), name: organization };
    expect(await imports()).toMatchObject([
      { action: "imports.retract", actor: names.owner, target, changes: { retracted: true } },
      { action: "imports.abort", actor: names.owner, target, changes: { status: "aborted" } },
      { action: "imports.start", actor: names.admin, target, changes: {} },
    ]);
  });

  test("into a package or a pixel are there under its name", async () => {
    const { organization, tokens } = world;
    const made = { name: "linuxserver/x", shortDescription: "" };
    const id = idOf(await api.call(tokens.owner, `POST /v1/organizations/${organization}/packages`, made));
    const pixel = idOf(await api.call(tokens.owner, `POST /v2/pixels/${organization}`, { name: "docs" }));
    await api.call(tokens.owner, `POST /v2/packages/${organization}/${id}/import`, LINE);
    await api.call(tokens.owner, `POST /v2/pixels/${organization}/${pixel}/import`, LINE);
    expect(await imports()).toMatchObject([
      { action: "pixels.import", target: { name: "docs" }, changes: { pixel_id: pixel } },
      { action: "packages.import", target: { name: "linuxserver/x" }, changes: { package_id: id } },
    ]);
  });

  test("that are only tried, or were started before, are not", async () => {
    const { organization, tokens } = world;
    await api.call(tokens.owner, `POST /v2/${organization}/import?dryRun=true`, LINE);
    expect(await imports()).toEqual([]);
    const start = () =>
      fetch(`${api.url}/v2/${organization}/import`, {
        method: "POST",
        headers: { authorization: `Bearer ${tokens.owner}`, "idempotency-key": "once" },
        body: JSON.stringify(LINE),
      });
    await start();
    expect((await start()).status).toBe(200);
    expect(await imports("?action=imports.start")).toHaveLength(1);
  });

  test("are there when the operator drops their dead letters", async () => {
    const { organization, tokens } = world;
    const importId = idOf(await api.call(tokens.owner, `POST /v2/${organization}/import`, LINE));
    const chunk = {
      partition: 0,
      offset: 1,
      sequence: 0,
      firstLine: 1,
      lines: 1,
      reason: "broken",
      tries: 3,
    };
    const letter = { ...chunk, logPosition: importId, importId, record: Buffer.from("x") };
    const nobodys = { ...chunk, importId: undefined, logPosition: `${importId}-2`, record: Buffer.from("x") };
    const put = [await putDeadLetter(postgres.pg, letter), await putDeadLetter(postgres.pg, nobodys)];
    const ids = put.map(Number);
    expect(await dropDeadLetters(postgres.pg, ids)).toEqual([]);
    expect(await imports("?action=dead-letters.drop")).toMatchObject([
      { actor: "(operator)", target: { id: importId, name: `dead letter ${ids[0]}` } },
    ]);
  });
});
