import { beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { auditOf, type Who } from "../../../support/api/management-world.js";
import { type Answer, type ServedApi, serveApi } from "../../../support/api/management-api.js";
import {
  OPERATIONS,
  RESOURCES,
  ROLES,
  type ResourceOperation,
  type ResourcePlace,
  type TabledResource,
  type TabledRole,
  letterOf,
  owned,
  resourceRoutes,
} from "../../../support/api/resource-table.js";
import { api, giveLevel, makePackage, postgres, useWorld, world } from "../../../support/api/use-world.js";

useWorld(({ pg }) => ({ routes: resourceRoutes({ pg, quotas: DEFAULT_QUOTAS }) }));

let place: ResourcePlace;

beforeEach(async () => {
  const { organization, names } = world;
  place = { organization, account: names.admin, packageId: await makePackage({ name: "a-tool" }) };
});

type Fields = Record<string, unknown>;

interface Sent {
  who?: Who | "nobody";
  body?: object;
  ifMatch?: string;
  to?: ServedApi;
}

/** `request` is `METHOD /path`. */
async function send(
  request: string,
  { who = "admin", body, ifMatch, to = api }: Sent = {},
): Promise<Answer & { record: Fields; tag: string }> {
  const [method = "", path = ""] = request.split(" ");
  const response = await fetch(to.url + path, {
    method,
    headers: {
      ...(who !== "nobody" && { authorization: `Bearer ${world.tokens[who]}` }),
      ...(ifMatch !== undefined && { "if-match": ifMatch }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  const record = JSON.parse((await response.text()) || "{}") as Fields;
  return { status, headers, body: record, record, tag: headers.get("etag") ?? "" };
}

const has = ({ roles }: TabledResource, operation: ResourceOperation) =>
  roles[OPERATIONS.indexOf(operation)] !== "-";

const pathOf = ({ path, recordPath, key = "id" }: TabledResource, record: Fields) =>
  `${recordPath ?? path(place)}/${encodeURIComponent(String(record[key]))}`;

const update = ({ update: to }: TabledResource, record: Fields, sent: Sent & { path: string }) =>
  send(`PUT ${sent.path}`, { ...sent, body: to?.sent(record) ?? {} });

const create = (resource: TabledResource, nth = 1, sent: Sent = {}) =>
  send(`POST ${resource.path(place)}`, { ...sent, body: resource.sent(nth, place) });

async function makeSome(resource: TabledResource): Promise<Fields[]> {
  const made: Fields[] = [];
  for (const nth of [1, 2, 3]) made.push((await create(resource, nth)).record);
  return made;
}

interface Listed {
  entries: Fields[];
  /** The path of the next page. */
  next: string | undefined;
}

/** Lists of v1 are arrays with a `Link`, those of v2 objects with `next`. */
async function readPage({ plural }: TabledResource, path: string): Promise<Listed> {
  const { body, headers } = await send(`GET ${path}`);
  const [, link] = /^<(.*)>; rel="next"$/.exec(headers.get("link") ?? "") ?? [];
  const next = link ?? (body as { next?: string }).next;
  const entries = (Array.isArray(body) ? body : (body as Fields)[plural]) as Fields[];
  return { entries, next: next?.replace(api.url, "") };
}

describe.each(RESOURCES.map((resource) => [resource.plural, resource] as const))("%s:", (_, resource) => {
  const { plural, audit, created = {}, listed = {}, key = "id" } = resource;
  const { name: newName, changes, shown = changes } = resource.update ?? {};

  test("a record is created, read and listed with all its fields", async () => {
    const made = await create(resource);
    const record = (resource.record ?? owned)(resource.sent(1, place), place);
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({ ...record, ...created });
    if (has(resource, "get")) {
      const read = await send(`GET ${pathOf(resource, made.record)}`);
      expect(read).toMatchObject({ status: 200 });
      expect(read.body).toEqual(record);
      expect(made.headers.get("location")).toBe(`${api.url}${pathOf(resource, made.record)}`);
      if (made.tag !== "") expect(made.tag).toBe(read.tag);
    }
    if (!has(resource, "list")) return;
    const { entries } = await readPage(resource, resource.path(place));
    expect(entries).toContainEqual({ ...record, ...listed, [key]: made.record[key] });
  });

  if (has(resource, "list"))
    test("pages of a list have each record once", async () => {
      const isNewestFirst = resource.path(place).startsWith("/v2/");
      const keys = (await makeSome(resource)).map((each) => each[key]);
      const { entries } = await readPage(resource, resource.path(place));
      const all = entries.map((each) => each[key]);
      expect(all.filter((each) => keys.includes(each))).toEqual(isNewestFirst ? keys.toReversed() : keys);
      const seen: unknown[] = [];
      const size = isNewestFirst ? "per_page=2" : "limit=2";
      let path: string | undefined = `${resource.path(place)}?${size}`;
      while (path !== undefined) {
        const page = await readPage(resource, path);
        expect(page.entries.length).toBeLessThanOrEqual(2);
        seen.push(...page.entries.map((each) => each[key]));
        path = page.next;
      }
      expect(seen).toEqual(all);
    });

  if (changes)
    test("an update changes the fields that were sent", async () => {
      const { record: made } = await create(resource);
      const path = pathOf(resource, made);
      const { record: before } = await send(`GET ${path}`);
      const updated = await update(resource, made, { path });
      expect(updated).toMatchObject({ status: 200 });
      const fields = Object.entries({ ...before, ...shown });
      expect(updated.body).toEqual(Object.fromEntries(fields.filter(([, value]) => value !== null)));
      const read = await send(`GET ${path}`);
      expect([read.body, read.tag]).toEqual([updated.body, updated.tag]);
    });

  if (has(resource, "delete"))
    test("a deleted record is gone", async () => {
      const { record: made } = await create(resource);
      const path = pathOf(resource, made);
      expect(await send(`DELETE ${path}`)).toMatchObject({ status: 204 });
      for (const request of [`DELETE ${path}`, ...(has(resource, "get") ? [`GET ${path}`] : [])])
        expect(await send(request)).toMatchObject({ status: 404, body: { code: "not-found" } });
      const { entries } = await readPage(resource, resource.path(place));
      expect(entries.map((each) => each[key])).not.toContain(made[key]);
    });

  test("a record is found only by its id, below its own owner or package", async () => {
    const { record: made } = await create(resource);
    const other = { ...place, organization: world.names.admin, packageId: await makePackage({ name: "b" }) };
    const ids = [{ [key]: "nothing" }, { [key]: place.packageId.replace(/..$/, "00") }];
    const paths = ids.map((each) => pathOf(resource, each));
    if (resource.path(other) !== resource.path(place) && resource.recordPath === undefined)
      paths.push(pathOf(resource, made).replace(resource.path(place), resource.path(other)));
    const requests = { get: "GET", update: "PUT", delete: "DELETE" };
    for (const operation of ["get", "update", "delete"] as const)
      for (const path of has(resource, operation) ? paths : []) {
        const body = operation === "update" ? { body: resource.update?.sent(made) ?? {} } : {};
        expect(await send(`${requests[operation]} ${path}`, body)).toMatchObject({ status: 404 });
      }
  });

  if (resource.hasTags)
    test("a change requires the ETag of the current record", async () => {
      const made = await create(resource);
      const path = pathOf(resource, made.record);
      const stale = { status: 412, body: { code: "precondition-failed" } };
      const remove = (ifMatch: string) => send(`DELETE ${path}`, { ifMatch });
      let tag = made.tag || (await send(`GET ${path}`)).tag;
      expect(tag).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
      if (changes !== undefined) {
        const change = (ifMatch: string) => update(resource, made.record, { path, ifMatch });
        const updated = await change(tag);
        expect(updated).toMatchObject({ status: 200 });
        expect(await change(tag)).toMatchObject(stale);
        if (has(resource, "delete")) expect(await remove(tag)).toMatchObject(stale);
        expect(await send(`GET ${path}`)).toMatchObject({ body: updated.body, tag: updated.tag });
        ({ tag } = await change("*"));
      }
      if (!has(resource, "delete")) return;
      expect(await remove(`"${"x".repeat(27)}"`)).toMatchObject(stale);
      expect(await remove(tag)).toMatchObject({ status: 204 });
    });

  test("the audit log gets every change with its fields, and no secret", async () => {
    const sent = resource.sent(1, place);
    const { record: made } = await create(resource);
    const path = pathOf(resource, made);
    if (changes !== undefined) await update(resource, made, { path });
    if (has(resource, "delete")) await send(`DELETE ${path}`);
    const { kind, actions, created: sentOf = (each: Fields) => each } = audit;
    const { deleted = () => ({ deleted: true }) } = audit;
    const actionOf = (operation: "create" | "update" | "delete") =>
      typeof actions === "string" ? actions : actions[operation];
    const name = audit.name(sent);
    const last = { kind, name: newName ?? name };
    const owner = audit.owner?.(made, place) ?? place.organization;
    const entries = await auditOf(postgres.pg, { owner, kind });
    expect(entries.filter((each) => each.name === name || each.name === last.name)).toEqual([
      { action: actionOf("create"), kind, name, changes: sentOf(sent, place) },
      ...(changes ? [{ action: actionOf("update"), ...last, changes }] : []),
      ...(has(resource, "delete")
        ? [{ action: actionOf("delete"), ...last, changes: deleted(sent, place) }]
        : []),
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/whsec_|mtk_|127\.0\.0\.1:59999\/secret/);
  });

  if (resource.hasQuota)
    test("an owner has as many as the quota allows, also at once", async () => {
      const quotas = { ...DEFAULT_QUOTAS, [plural]: 2 };
      await using to = await serveApi({
        pg: postgres.pg,
        quotas,
        routes: resourceRoutes({ pg: postgres.pg, quotas }),
      });
      const existing = has(resource, "list") ? (await readPage(resource, resource.path(place))).entries : [];
      const answers = await Promise.all([1, 2, 3, 4].map((nth) => create(resource, nth, { to })));
      const rejected = answers.filter(({ status }) => status !== 201);
      expect(rejected).toHaveLength(2 + existing.length);
      const message = expect.stringMatching(`has 2 ${plural}, and the limit is 2`) as string;
      for (const { status, body } of rejected)
        expect([status, body]).toEqual([422, { code: `too-many-${plural}`, message }]);
    });

  test("each role may do what the table says", async () => {
    const words = resource.roles.split(" ");
    words.push((words[0] ?? "").replaceAll("A", "U"));
    const seen: Record<string, string> = {};
    for (const [at, role] of ROLES.entries())
      seen[role.role] = await lettersOf(resource, { ...role, asked: words[at] ?? "", nth: 2 * at + 1 });
    expect(seen).toEqual(Object.fromEntries(ROLES.map(({ role }, at) => [role, words[at]])));
  });
});

/** The letter of each operation's status, for operations that are asked for. */
async function lettersOf(
  resource: TabledResource,
  { who, level, asked, nth }: TabledRole & { asked: string; nth: number },
): Promise<string> {
  const record = resource.existing?.(place) ?? (await create(resource, nth, { who: "owner" })).record;
  const path = pathOf(resource, record);
  const packageId = (record["uuid"] as string | undefined) ?? place.packageId;
  await postgres.pg.query("delete from package_permissions where package_id = $1", [packageId]);
  if (level !== undefined && who !== "nobody") await giveLevel(who, packageId, level);
  const requests = {
    create: () => create(resource, nth + 1, { who }),
    list: () => send(`GET ${resource.path(place)}`, { who }),
    get: () => send(`GET ${path}`, { who }),
    update: () => update(resource, record, { path, who }),
    delete: () => send(`DELETE ${path}`, { who }),
  };
  let letters = "";
  for (const [at, operation] of OPERATIONS.entries()) {
    const isAsked = asked[at] !== "-";
    letters += isAsked ? letterOf((await requests[operation]()).status) : "-";
  }
  return letters;
}
