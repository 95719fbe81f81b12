import { beforeAll, expect, test } from "vitest";
import { createSealer } from "../../../../api/base/identity/tokens.js";
import { erasureRoutes } from "../../../../api/features/erasures/erasure-routes.js";
import {
  dueErasures,
  dueOwners,
  importEnds,
  importsToCome,
  liveToCome,
  putComplete,
  putFinished,
  putFound,
  putLiveStamp,
  putLogEnds,
  putWaiting,
} from "../../../../api/features/erasures/client-erasures.js";
import { putFlushed, removeCollector } from "../../../../api/features/erasures/collectors.js";
import { retryDeadLetter } from "../../../../api/features/imports/dead-letters.js";
import { readExportState } from "../../../../api/features/imports/export-state.js";
import { uploadStore } from "../../../../api/features/imports/uploads.js";
import { completeUpload } from "../../../support/imports/open-upload.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
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
  expect(due).toMatchObject({ id, kind: "endpoint_id", clientId: CLIENT, imports: [], liveStamp: null });
  expect(Math.abs((due?.stamp ?? 0) - Date.now())).toBeLessThan(60_000);
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

async function beginImport() {
  const text = "select id from owners where name = $1";
  const { rows } = await postgres.pg.query<{ id: string }>(text, [world.names.owner]);
  const accountId = rows[0]?.id ?? "";
  return insertImport(postgres.pg, { ownerId, accountId, artifactKind: "any", artifactId: "" });
}

test("an erasure waits for imports that began before it", async () => {
  const { pg } = postgres;
  await beginImport();
  const { id } = (await ask({ origin_id: CLIENT })).body as { id: string };
  expect(await dueErasures(pg, ownerId, sealer)).toMatchObject([{ id, kind: "origin_id" }]);
  // However old it is.
  await pg.query("update erasures set asked_at = now() - interval '9 days'");
  expect(await importsToCome(pg, id)).toBe("imports");
  await pg.query("update imports set status = 'aborted'");
  expect(await importsToCome(pg, id)).toBeUndefined();
});

test("it waits for the lines of its owner's imports in the event log, and for no others'", async () => {
  const { pg } = postgres;
  await pg.query("update erasures set finished_at = now(), client = null where finished_at is null");
  await pg.query("update imports set status = 'done', log_ends = '{}'");
  const begun = async (logEnds: number[]) => {
    const { id } = await beginImport();
    await completeUpload(pg, { importId: id, ownerId, stamp: Date.now(), logEnds });
    return id;
  };
  const first = await begun([4, 0, 9]);
  await begun([7]);
  const { id } = (await ask({ origin_id: CLIENT })).body as { id: string };
  expect(await importEnds(pg, id)).toEqual([7, 0, 9]);
  const later = await beginImport();
  await completeUpload(pg, { importId: later.id, ownerId, stamp: Date.now() + 60_000, logEnds: [99, 99] });
  expect(await importEnds(pg, id)).toEqual([7, 0, 9]);
  // A dead letter that is retried goes behind them.
  const letter = await pg.query<{ id: number }>(
    `insert into dead_letters (log_position, partition, "offset", import_id, sequence, first_line, lines, record, reason, tries)
     values ('l:t:3:1', 3, 1, $1, 0, 1, 1, 'x', 'r', 1) returning id::float8 as id`,
    [first],
  );
  await retryDeadLetter(pg, letter.rows[0]?.id ?? 0, async () => ({ partition: 3, end: 12 }));
  expect(await importEnds(pg, id)).toEqual([7, 0, 9, 12]);
  // Nobody knows how far a process came that died, or an append that failed.
  await uploadStore(pg).interruptUpload(first, { ...UPLOAD, logEnds: undefined });
  expect(await importEnds(pg, id)).toBeUndefined();
  await pg.query("update imports set status = 'done', log_ends = '{}'");
});

const UPLOAD = { reason: "it broke off", bytes: 1, bytesUnpacked: 1, lines: 1, stamp: 1 };

test("its stamp covers imports of a clock that was ahead, and no import that begins later has one below", async () => {
  const { pg } = postgres;
  const ahead = Date.now() + 3_600_000;
  await pg.query("update imports set status = 'done', last_stamp = $1", [ahead]);
  await pg.query("update erasures set finished_at = now(), client = null");
  const { id } = (await ask({ origin_id: CLIENT })).body as { id: string };
  const [due] = await dueErasures(pg, ownerId, sealer);
  expect(due).toMatchObject({ id, stamp: ahead + 1 });
  await pg.query("update imports set last_stamp = 1");
  expect(await beginImport()).toMatchObject({ stamp: ahead + 1 });
  await pg.query("update imports set status = 'done'");
});

test("it waits for live events in buffers of collectors, for dead letters of live events, and for those that are retried", async () => {
  const { pg } = postgres;
  await pg.query("update erasures set finished_at = now(), client = null where finished_at is null");
  await putFlushed(pg, "host:/data");
  const { id } = (await ask({ origin_id: CLIENT })).body as { id: string };
  const ends = async () => (await dueNow(id))?.logEnds;
  const reasons: unknown[] = [];
  for (let flush = 0; flush < 3; flush++) {
    reasons.push(await liveToCome(pg, id));
    await putFlushed(pg, "host:/data");
  }
  // The first may have begun before it was asked for.
  expect(reasons).toEqual(["live-collection", "live-collection", undefined]);
  const letter = await pg.query<{ id: number }>(
    `insert into dead_letters (log_position, partition, "offset", sequence, first_line, lines, record, reason, tries)
     values ('l:t:0:1', 0, 1, 0, 1, 1, 'x', 'r', 1) returning id::float8 as id`,
  );
  expect(await liveToCome(pg, id)).toBe("dead-letters");
  await putWaiting(pg, id, "event-log");
  await putLogEnds(pg, id, [5, 7]);
  expect(await ends()).toEqual([5, 7]);
  await retryDeadLetter(pg, letter.rows[0]?.id ?? 0, async () => ({ partition: 0, end: 9 }));
  expect(await ends()).toBeNull();
  await putLiveStamp(pg, id, 1);
  await putComplete(pg, id);
  expect(await dueNow(id)).toMatchObject({ liveStamp: null, waitingFor: "event-log" });
  await putLogEnds(pg, id, [6, 7]);
  await putLiveStamp(pg, id, 1);
  expect(await dueNow(id)).toMatchObject({ logEnds: null, waitingFor: "event-log" });
  await putLogEnds(pg, id, [6, 7]);
  await putComplete(pg, id);
  expect(await dueNow(id)).toMatchObject({ waitingFor: null });
  // One that was killed is waited for until it is certain.
  await putFlushed(pg, "killed");
  const next = (await ask({ origin_id: CLIENT })).body as { id: string };
  await removeCollector(pg, "host:/data");
  expect(await liveToCome(pg, next.id)).toBe("live-collection");
  await pg.query("update collectors set seen_at = now() - interval '25 hours'");
  await liveToCome(pg, next.id);
  expect(await liveToCome(pg, next.id)).toBeUndefined();
});

async function dueNow(id: string) {
  await postgres.pg.query("update erasures set due_at = now()");
  return (await dueErasures(postgres.pg, ownerId, sealer)).find((due) => due.id === id);
}

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
    `insert into erasures (id, owner_id, kind, client, stamp, imports, collectors)
     select gen_random_uuid(), $1, 'origin_id', 'x', 0, '{}', '{}' from generate_series(1, 100)`,
    [ownerId],
  );
  expect(await ask({ endpoint_id: CLIENT })).toMatchObject(refused(422, "too-many-erasures"));
});
