import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../../../deploy/demo/api-client.js";
import { generateBody } from "../../../../deploy/demo/generate-events.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf, readUntil } from "../../../support/imports/import-outcome.js";
import { type RecountBodies, openImportWorld } from "../../../support/imports/import-world.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import { startFailing } from "../../../support/program/start-failing.js";
import type { Toolchain } from "../../../support/program/start-toolchain.js";

const ORGANIZATION = "stopped";
const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
/** More than two batches: one is being written when the program is told to stop. */
const LINES = 170_000;

let toolchain: Toolchain;
let api: ApiClient;
let recountBodies: RecountBodies;

beforeAll(async () => {
  ({ toolchain, api, recountBodies } = await openImportWorld(ORGANIZATION));
});

afterAll(() => toolchain?.close());

/** How many chunks of an import were written, and how often any of them at the most. */
async function readChunks(id: string): Promise<{ written: number; reports: number }> {
  const client = new pg.Client({ connectionString: toolchain.endpoints.postgres });
  await client.connect();
  const text = `select count(*)::int as written, max(reports)::int as reports from import_chunks where import_id = $1`;
  const { rows } = await client.query<{ written: number; reports: number }>(text, [id]);
  await client.end();
  return rows[0] ?? { written: 0, reports: 0 };
}

test("a second program on the same directory says who holds it, and ends with status 1", async () => {
  const ended = await startFailing({ DATA_DIR: toolchain.dataDir });
  const sentence = `DATA_DIR ${toolchain.dataDir} is in use by process ${toolchain.pid}: stop it first`;
  expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
  expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
});

test("a program that is stopped while it enriches is gone within 20 s, and its import is exact without a chunk written again", async () => {
  const made = await makePackage(api, { organization: ORGANIZATION, name: "files", libraryType: "other" });
  const packages = [{ id: made.id, libraryType: "other" as const }];
  const mix = { seed: 7, clients: 2_000, overrideShare: 0.1, from: "2025-03-10", days: 30, packages };
  const body = Buffer.concat([...generateBody({ ...mix, count: LINES })]);
  const started = await api.importBody(`/v2/packages/${ORGANIZATION}/${made.id}/import`, body);
  const progress = () => api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${started.id}`);
  await expect.poll(async () => (await progress()).events_total, { interval: 20 }).toBeGreaterThan(0);

  // It gives itself 20 s, and ends with status 1 when these are over.
  expect(await toolchain.kill("SIGTERM")).toBe(0);

  await toolchain.restart();
  api = connectApi(toolchain.api, api.token);
  const record = await api.pollToDone(started);
  const { imports, aggregates } = recountBodies([{ bytes: body, target: made.id }], [made]);
  expect([outcomeOf(record)]).toEqual(imports.map(expectedOutcome));
  await readUntil(api, ORGANIZATION, { packageId: made.id, range: RANGE, expected: aggregates });

  const { written, reports } = await readChunks(started.id);
  expect(reports).toBe(1);
  const metrics = await readMetrics(toolchain);
  expect(metrics.sum("enrich_batch_duration_seconds", { delivery: "again" })).toBe(0);
  // It was stopped on the way: some were written before, the others after.
  const after = metrics.sum("enrich_chunks_total", { outcome: "enriched" });
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThan(written);
});
