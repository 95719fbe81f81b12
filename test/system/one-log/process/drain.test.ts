import { expect, test } from "vitest";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf } from "../../../support/imports/import-outcome.js";
import { makeTarget } from "../../../support/imports/import-target.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import { startFailing } from "../../../support/program/start-failing.js";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { api, restart, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";

const ORGANIZATION = "stopped";
/** Blank bytes make a batch of few lines. There are three: one is being written when the program is told to stop. */
const LINES = 12_000;
const LINE_BYTES = 6 * 1024;

useToolchain({ organizations: [ORGANIZATION] });

/** How many chunks of an import were written, and how often any of them at the most. */
async function readChunks(id: string): Promise<{ written: number; reports: number }> {
  const text = `select count(*)::int as written, max(reports)::int as reports from import_chunks where import_id = $1`;
  return onPostgres(toolchain.endpoints.postgres, async (client) => {
    const { rows } = await client.query<{ written: number; reports: number }>(text, [id]);
    return rows[0] ?? { written: 0, reports: 0 };
  });
}

test("a second program on the same directory says who holds it, and ends with status 1", async () => {
  const ended = await startFailing({ DATA_DIR: toolchain.dataDir });
  const sentence = `DATA_DIR ${toolchain.dataDir} is in use by process ${toolchain.pid}. Stop it first`;
  expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
  expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
});

test("a program that is stopped while it enriches is gone within 20 s, and its import is exact without a chunk written again", async () => {
  const target = await makeTarget(api, { organization: ORGANIZATION });
  const body = padded(target.bodyOf({ count: LINES, overrideShare: 0.1 }));
  const started = await api.importBody(target.path, body);
  const progress = () => api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${started.id}`);
  await expect.poll(async () => (await progress()).events_total, { interval: 20 }).toBeGreaterThan(0);

  // It gives itself 20 s, and ends with status 1 when these are over.
  expect(await toolchain.kill("SIGTERM")).toBe(0);

  await restart();
  const record = await api.pollToDone(started);
  expect([outcomeOf(record)]).toEqual(target.recount(body).imports.map(expectedOutcome));
  await target.expectExports(api, body);

  const { written, reports } = await readChunks(started.id);
  expect(reports).toBe(1);
  const metrics = await readMetrics(toolchain);
  expect(metrics.sum("enrich_batch_duration_seconds", { delivery: "again" })).toBe(0);
  // It was stopped on the way: some were written before, the others after.
  const after = metrics.sum("enrich_chunks_total", { outcome: "enriched" });
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThan(written);
});

function padded(body: Buffer): Buffer {
  const lines = body.toString().split("\n");
  return Buffer.from(lines.map((line) => line.padEnd(LINE_BYTES)).join("\n"));
}
