import { afterAll, beforeAll, expect, test } from "vitest";
import { createSealer } from "../../../../api/identity/tokens.js";
import { erasureRoutes } from "../../../../api/erasures/erasure-routes.js";
import { dueErasures, dueOwners, putFinished, putFound } from "../../../../api/erasures/client-erasures.js";
import { readExportState } from "../../../../api/imports/export-state.js";
import { insertImport } from "../../../../api/imports/imports.js";
import {
  openTestPostgres,
  SECRET_KEY,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../../support/api/management-api.js";
import { makeWorld, type World } from "../../../support/api/management-world.js";

const CLIENT = "0f343b0931126a20f133d67c2b018a3b";
const sealer = createSealer(SECRET_KEY, "client erasure");

let postgres: TestPostgres;
let api: ServedApi;
let world: World;
let ownerId: string;

beforeAll(async () => {
  postgres = await openTestPostgres();
  const { pg } = postgres;
  api = await serveApi({ pg, routes: erasureRoutes({ pg, sealer }) });
  world = await makeWorld(api, pg);
  const text = "select id from owners where name = $1";
  ownerId = (await pg.query<{ id: string }>(text, [world.organization])).rows[0]?.id ?? "";
});

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const path = () => `/v2/${world.organization}/erasures`;
const ask = (body: object) => api.call(world.tokens.admin, `POST ${path()}`, body);

test("an erasure is recorded without the client's id, hidden from reads until it is done, and then forgotten", async () => {
  const { pg } = postgres;
  const made = await ask({ endpoint_id: CLIENT.toUpperCase() });
  expect(made).toMatchObject({
    status: 201,
    body: { client: "endpoint_id", status: "erasing", finished_at: null },
  });
  const { id } = made.body as { id: string };
  expect(made.headers.get("Location")).toMatch(new RegExp(`${path()}/${id}$`));
  const kept = await pg.query<{ row: string }>(
    "select to_jsonb(e)::text as row from erasures e union all select to_jsonb(a)::text from audit_entries a",
  );
  const rows = kept.rows.map(({ row }) => row).join("\n");
  expect(rows).toContain(id);
  expect([rows.includes(CLIENT), rows.includes(Buffer.from(CLIENT).toString("hex"))]).toEqual([false, false]);
  expect((await readExportState(pg, [ownerId])).unsettled).toMatchObject({ erasures: [id], changed: true });
  expect(await dueOwners(pg)).toEqual([ownerId]);
  const [due] = await dueErasures(pg, ownerId, sealer);
  expect(due).toMatchObject({ id, kind: "endpoint_id", clientId: CLIENT, importsSettled: true });
  expect(Math.abs((due?.askedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  await putFound(pg, id, { events: 5, lines: 2 });
  expect(await dueOwners(pg)).toEqual([]);
  await putFound(pg, id, { events: 7, lines: 1 });
  await putFinished(pg, id);
  const read = await api.call(world.tokens.admin, `GET ${path()}/${id}`);
  expect(read.body).toMatchObject({ status: "done", events_erased: 7, rejected_lines_erased: 3 });
  expect((await readExportState(pg, [ownerId])).unsettled.erasures).toEqual([]);
  const { rows: left } = await pg.query("select 1 from erasures where client is not null");
  expect(left).toEqual([]);
});

test("an erasure waits for imports that began before it", async () => {
  const { pg } = postgres;
  const accountId = (
    await pg.query<{ id: string }>("select id from owners where name = $1", [world.names.owner])
  ).rows[0]?.id;
  await insertImport(pg, { ownerId, accountId: accountId ?? "", artifactKind: "any", artifactId: "" });
  const { id } = (await ask({ origin_id: CLIENT })).body as { id: string };
  expect(await dueErasures(pg, ownerId, sealer)).toMatchObject([
    { id, kind: "origin_id", importsSettled: false },
  ]);
  await pg.query("update imports set status = 'aborted'");
  expect(await dueErasures(pg, ownerId, sealer)).toMatchObject([{ importsSettled: true }]);
});

test("bodies that name no client, or two, and callers who may not, are refused", async () => {
  for (const body of [
    {},
    { endpoint_id: "1" },
    { endpoint_id: CLIENT, origin_id: CLIENT },
    { address: "192.0.2.1" },
  ])
    expect(await ask(body)).toMatchObject({ status: 422, body: { code: "invalid-body" } });
  const body = { endpoint_id: CLIENT };
  expect((await api.call(world.tokens.member, `POST ${path()}`, body)).status).toBe(403);
  expect((await api.call(world.tokens.member, `GET ${path()}`)).status).toBe(403);
  expect((await api.call(world.tokens.stranger, `GET ${path()}`)).status).toBe(404);
  const listed = await api.call(world.tokens.admin, `GET ${path()}?per_page=1`);
  expect((listed.body as { erasures: object[]; next: string }).erasures).toMatchObject([
    { client: "origin_id" },
  ]);
  expect(listed.body).toHaveProperty("next");
  expect((await api.call(world.tokens.admin, `GET ${path()}/nothing`)).status).toBe(404);
});

test("a hundred erasures may be under way", async () => {
  const { pg } = postgres;
  await pg.query(
    `insert into erasures (id, owner_id, kind, client)
     select gen_random_uuid(), $1, 'origin_id', 'x' from generate_series(1, 100)`,
    [ownerId],
  );
  expect(await ask({ endpoint_id: CLIENT })).toMatchObject({
    status: 422,
    body: { code: "too-many-erasures" },
  });
});
