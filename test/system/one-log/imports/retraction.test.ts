import { beforeAll, expect, test } from "vitest";
import { emptyTally } from "../../../../enrich/lines/tally-lines.js";
import { importEndingRoutes } from "../../../../api/features/imports/import-ending-routes.js";
import { putChunks } from "../../../../api/features/imports/import-progress.js";
import { insertImport, readImport } from "../../../../api/features/imports/imports.js";
import { asOnlySettlement } from "../../../../api/features/imports/settlements.js";
import { putLogsErased, importsWithoutLog } from "../../../../api/features/erasures/deleted-artifacts.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import { api, postgres, useOneWorld, world } from "../../../support/api/use-world.js";
import { completeUpload } from "../../../support/imports/open-upload.js";

let ownerId: string;
let accountId: string;

// Nothing settles here but the tests.
useOneWorld(({ pg }) => ({
  routes: importEndingRoutes({ pg, active: new ActiveUploads(), retractionMsMax: 100 }),
}));
beforeAll(async () => {
  const text = "select id from owners where name = $1";
  const idOfOwner = async (name: string) =>
    (await postgres.pg.query<{ id: string }>(text, [name])).rows[0]?.id ?? "";
  [ownerId, accountId] = [await idOfOwner(world.organization), await idOfOwner(world.names.owner)];
});

/** An import that is done, with one chunk. */
async function finishedImport(): Promise<string> {
  const { pg } = postgres;
  const { id } = await insertImport(pg, { ownerId, accountId, artifactKind: "any", artifactId: "" });
  await completeUpload(pg, { importId: id, ownerId });
  const counts = { ...emptyTally(), eventsTotal: 5, eventsImported: 5 };
  await putChunks(pg, [{ importId: id, sequence: 0, receiptStamp: 1, ...counts }]);
  await settle(id, { retracted: false });
  return id;
}

async function settle(id: string, { retracted }: { retracted: boolean }): Promise<void> {
  await asOnlySettlement(postgres.pg, ownerId, async (owner) => {
    const chunks = await owner.unsettledChunks([id], { eventsMax: 1_000, chunksMax: 10 });
    await owner.markSettled([{ id, retracted }], chunks);
    await owner.finishComplete([id]);
  });
}

const statusOf = async (id: string) => (await readImport(postgres.pg, { ownerId, id }))?.status;

test.each([
  ["done", (path: string) => `DELETE ${path}`],
  ["aborted", (path: string) => `DELETE ${path}`],
  ["aborted", (path: string) => `POST ${path}/abort?retract=true`],
])("an import that is %s is retracting until its events are settled (%#)", async (status, call) => {
  const id = await finishedImport();
  await postgres.pg.query("update imports set status = $2 where id = $1", [id, status]);
  const path = `/v2/imports/${world.organization}/${id}`;
  const answer = await api.call(world.tokens.admin, call(path));
  expect(answer).toMatchObject({ status: 202, body: { id, status: "retracting" } });
  expect(answer.headers.get("Location")).toMatch(new RegExp(`${path}$`));
  expect(await statusOf(id)).toBe("retracting");
  expect((await api.call(world.tokens.admin, call(path))).status).toBe(202);
  await settle(id, { retracted: true });
  expect(await statusOf(id)).toBe(status);
  expect((await api.call(world.tokens.admin, call(path))).status).toBe(204);
});

test("a retraction is answered 204 as soon as its events are settled", async () => {
  const id = await finishedImport();
  const [{ status }] = await Promise.all([
    api.call(world.tokens.admin, `DELETE /v2/imports/${world.organization}/${id}`),
    expect
      .poll(() => statusOf(id), { interval: 5 })
      .toBe("retracting")
      .then(() => settle(id, { retracted: true })),
  ]);
  expect([status, await statusOf(id)]).toEqual([204, "done"]);
});

test("an abort without retraction waits for nothing", async () => {
  const id = await finishedImport();
  await postgres.pg.query("update imports set status = 'importing', chunks_settled = 0 where id = $1", [id]);
  const path = `/v2/imports/${world.organization}/${id}`;
  expect((await api.call(world.tokens.admin, `POST ${path}/abort`)).status).toBe(204);
  expect(await statusOf(id)).toBe("aborted");
});

test("the log of a retracted import is to be erased once it is settled, and its samples with it", async () => {
  const { pg } = postgres;
  const id = await finishedImport();
  const entry = { class: "error", type: "invalid-time", human_friendly_message: "$time", line: 1 };
  await pg.query("update import_chunks set errors = $2 where import_id = $1", [id, JSON.stringify([entry])]);
  const path = `/v2/imports/${world.organization}/${id}`;
  expect((await api.call(world.tokens.admin, `DELETE ${path}`)).status).toBe(202);
  const past = () => pg.query("update imports set updated_at = now() - interval '1 minute'");
  await past();
  expect(await importsWithoutLog(pg, 1_000)).not.toContain(id);
  await settle(id, { retracted: true });
  expect(await importsWithoutLog(pg, 1_000)).not.toContain(id);
  await past();
  expect(await importsWithoutLog(pg, 1_000)).toContain(id);
  expect((await readImport(pg, { ownerId, id }))?.error_log_sample).toHaveLength(1);
  await putLogsErased(pg, [id]);
  expect(await importsWithoutLog(pg, 1_000)).not.toContain(id);
  expect((await readImport(pg, { ownerId, id }))?.error_log_sample).toEqual([]);
});
