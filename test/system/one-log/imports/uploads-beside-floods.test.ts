import { expect, test } from "vitest";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { makeTarget } from "../../../support/imports/import-target.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { api, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { startUpload } from "../../../support/imports/start-upload.js";

const LINES = 4_000;

const FLOODED = "/v2/busy/audit";

useToolchain({ organizations: ["busy"] });

/** Requests that find every connection taken, a few hundred at a time, until the signal; answers their statuses. */
async function flood(signal: AbortSignal): Promise<number[]> {
  const statuses: number[] = [];
  while (!signal.aborted) {
    const sent = Array.from({ length: 200 }, () => api.request(FLOODED));
    for (const answer of await Promise.all(sent)) {
      statuses.push(answer.status);
      await answer.body?.cancel();
    }
  }
  return statuses;
}

test("an upload keeps its lease and is answered while a flood of requests waits for the database in vain", async () => {
  const target = await makeTarget(api, { organization: "busy" });
  const body = target.bodyOf({ count: LINES, overrideShare: 0 });
  const half = Math.floor(body.length / 2);
  const { upload, started } = await startUpload(api, { owner: "busy", path: target.path });
  await upload.send(body.subarray(0, half));
  await onPostgres(toolchain.endpoints.postgres, async (client) => {
    await client.query("begin");
    // Read for the flood alone: an upload needs it when it begins, and then no more.
    await client.query("lock table audit_entries in access exclusive mode");
    const enough = new AbortController();
    const flooding = flood(enough.signal);
    const lease = async () => {
      const { rows } = await client.query<{ upload_lease: Date }>(
        "select upload_lease from imports where id = $1",
        [started.id],
      );
      return rows[0]?.upload_lease.getTime();
    };
    const before = await lease();
    await expect.poll(lease).not.toBe(before);
    await upload.send(body.subarray(half));
    upload.end();
    expect(await upload.answer).toMatchObject({ status: 200, body: { status: "importing" } });
    enough.abort();
    // Four of an account are at work at once: they wait for the database, and the others for them.
    expect([...new Set(await flooding)].sort()).toEqual([429, 503]);
    await client.query("rollback");
  });
  expect((await api.request(FLOODED)).status).toBe(200);
  const done = await api.pollToDone((await upload.answer).body as EventImport);
  expect(done).toMatchObject({ status: "done", events_total: LINES });
});
