import { beforeAll, expect, test } from "vitest";
import { createSealer } from "../../../../api/identity/tokens.js";
import { erasureRoutes } from "../../../../api/erasures/erasure-routes.js";
import { dueErasures, dueOwners, putFinished, putFound } from "../../../../api/erasures/client-erasures.js";
import { readExportState } from "../../../../api/imports/export-state.js";
import { insertImport } from "../../../../api/imports/imports.js";
import { SECRET_KEY } from "../../../support/api/management-api.js";
import { useOneWorld, as, postgres, refused, world } from "../../../support/api/use-world.js";

const CLIENT = "0f343b0931126a20f133d67c2b018a3b";
const sealer = createSealer(SECRET_KEY, "client erasure");

useOneWorld(({ pg }) => ({ routes: erasureRoutes({ pg, sealer }) }));

let ownerId: string;

beforeAll(async () => {
  const text = "select id from owners where name = $1";
  ownerId = (await postgres.pg.query<{ id: string }>(text, [world.organization])).rows[0]?.id ?? "";
});

const path = () => `/v2/${world.organization}/erasures`;
const ask = (body: object) => as("admin", `POST ${path()}`, body);

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
  const read = await as("admin", `GET ${path()}/${id}`);
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

test("bodies that name no client, or two, are refused", async () => {
  for (const body of [
    {},
    { endpoint_id: "1" },
    { endpoint_id: CLIENT, origin_id: CLIENT },
    { address: "192.0.2.1" },
  ])
    expect(await ask(body)).toMatchObject(refused(422, "invalid-body"));
  const listed = await as("admin", `GET ${path()}?per_page=1`);
  expect((listed.body as { erasures: object[]; next: string }).erasures).toMatchObject([
    { client: "origin_id" },
  ]);
  expect(listed.body).toHaveProperty("next");
  expect((await as("admin", `GET ${path()}/nothing`)).status).toBe(404);
});

test("a hundred erasures may be under way", async () => {
  const { pg } = postgres;
  await pg.query(
    `insert into erasures (id, owner_id, kind, client)
     select gen_random_uuid(), $1, 'origin_id', 'x' from generate_series(1, 100)`,
    [ownerId],
  );
  expect(await ask({ endpoint_id: CLIENT })).toMatchObject(refused(422, "too-many-erasures"));
});
