import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { connectApi } from "../../../../deploy/demo/api-client.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { readMetrics, type Metrics } from "../../../support/program/read-metrics.js";
import { pidsIn } from "../../../support/program/toolchain-process.js";
import { api, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { startUpload } from "../../../support/imports/start-upload.js";

const ORGANIZATION = "measured";
const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const LINES = 1_000;

let packageId: string;
let path: string;
let before: Metrics;
let after: Metrics;

useToolchain({ organizations: [ORGANIZATION] });
beforeAll(async () => {
  before = await readMetrics(toolchain);
  const made = await makePackage(api, { organization: ORGANIZATION, name: "files", libraryType: "other" });
  packageId = made.id;
  path = `/v2/packages/${ORGANIZATION}/${packageId}/import`;
});

/** Each event twice, so that settlement has something to remove; and one line that is none. */
const body = () =>
  [...Array(LINES).keys()]
    .map((n) => JSON.stringify({ $time: "2025-03-10T12:00:00Z", $unique_id: `id-${n >> 1}` }))
    .concat("not JSON\n")
    .join("\n");

const moved = (name: string, labels?: Record<string, string>) =>
  after.sum(name, labels) - before.sum(name, labels);

describe("/metrics tells of", () => {
  test("an import that is done", async () => {
    const bytes = body();
    await api.pollToDone(await api.importBody(path, bytes, { gzip: true }));
    after = await readMetrics(toolchain);
    expect(moved("import_received_bytes_total")).toBe(bytes.length);
    expect(moved("enrich_events_total", { outcome: "imported" })).toBe(LINES);
    expect(moved("enrich_events_total", { outcome: "rejected" })).toBe(1);
    expect(moved("enrich_chunks_total", { outcome: "enriched" })).toBe(1);
    expect(moved("enrich_batch_duration_seconds", { delivery: "first" })).toBe(1);
    expect(after.sum("enrich_batch_duration_seconds", { delivery: "again" })).toBe(0);
    expect(moved("clickhouse_insert_duration_seconds", { table: "events" })).toBe(1);
    expect(moved("clickhouse_insert_duration_seconds", { table: "import_log" })).toBe(1);
    expect(moved("settlement_duration_seconds")).toBeGreaterThan(0);
    expect(moved("settlement_versions_total")).toBe(LINES / 2);
    expect(moved("imports_ended_total", { ending: "done" })).toBe(1);
    expect(after.sum("event_log_lag_records")).toBe(0);
  });

  test("an export", async () => {
    before = await readMetrics(toolchain);
    await api.readAggregates(ORGANIZATION, RANGE);
    const list = `/v1/organizations/${ORGANIZATION}/aggregates?startDate=2025-03-01&endDate=2025-05-01`;
    const compressed = await api.request(list, { headers: { "Accept-Encoding": "gzip" } });
    const text = await compressed.text();
    await expect
      .poll(async () => (await readMetrics(toolchain)).sum("exports_ended_total", { ending: "complete" }))
      .toBe(2);
    after = await readMetrics(toolchain);
    expect(moved("export_bytes_total")).toBe(2 * text.length);
    expect(after.sum("exports_ended_total", { ending: "failed" })).toBe(0);
  });

  test("uploads as they are received, and how else an import ends", async () => {
    before = await readMetrics(toolchain);
    const { upload: broken } = await startUpload(api, { owner: ORGANIZATION, path });
    await broken.send(body());
    await expect.poll(async () => (await readMetrics(toolchain)).sum("import_active_uploads")).toBe(1);
    broken.breakOff();
    const interrupted = async () =>
      (await readMetrics(toolchain)).sum("imports_ended_total", { ending: "interrupted" });
    await expect.poll(interrupted).toBe(1);

    const { upload: unwanted, started } = await startUpload(api, { owner: ORGANIZATION, path });
    await unwanted.send(body());
    await api.request(`/v2/imports/${ORGANIZATION}/${started.id}/abort`, { method: "POST" });
    await unwanted.answer.catch(() => undefined);
    after = await readMetrics(toolchain);
    expect(moved("imports_ended_total", { ending: "aborted" })).toBe(1);
    expect(moved("imports_ended_total", { ending: "done" })).toBe(0);
    await expect.poll(async () => (await readMetrics(toolchain)).sum("import_active_uploads")).toBe(0);
  });

  test("requests by the pattern of their route, whatever stands in their paths", async () => {
    for (const owner of ["a", "b", "b?per_page=1"]) await api.request(`/v2/imports/${owner}`);
    for (const unknown of [1, 2]) await api.request(`/nowhere/${unknown}`);
    await connectApi(toolchain.api, "mtk_wrong").request(`/v2/imports/${ORGANIZATION}`);
    after = await readMetrics(toolchain);
    const imports = { route: "/v2/imports/:owner", method: "GET" };
    expect(after.sum("http_requests_total", { ...imports, status: "404" })).toBe(3);
    expect(after.sum("http_requests_total", { route: "none", status: "404" })).toBe(2);
    expect(after.sum("http_requests_total", { route: "none", status: "401" })).toBe(1);
    const routes = after.values("http_requests_total", "route");
    expect(routes).toContain("/v2/packages/:owner/:package/import");
    expect(routes.filter((route) => route.includes(packageId) || route.includes(ORGANIZATION))).toEqual([]);
    expect(after.sum("http_request_duration_seconds")).toBe(after.sum("http_requests_total"));
  });

  test("uploads that a process left behind when it was killed", async () => {
    const { upload } = await startUpload(api, { owner: ORGANIZATION, path });
    await upload.send(body());
    await toolchain.kill("SIGKILL");
    await toolchain.restart();
    expect((await readMetrics(toolchain)).sum("imports_ended_total", { ending: "lost" })).toBe(1);
    await expect.poll(async () => (await readMetrics(toolchain)).sum("event_log_lag_records")).toBe(0);
  });

  test("exactly what the table in deploy/docs/reference/metrics.md names", async () => {
    const page = await readFile(
      new URL("../../../../deploy/docs/reference/metrics.md", import.meta.url),
      "utf8",
    );
    // Those of a shard are for a cluster.
    const named = [...page.matchAll(/^\| `([a-z]+_[a-z0-9_]+)` \| (?!`shard`)/gm)].map(([, name]) => name);
    expect([...after.names].sort()).toEqual(named.sort());
  });
});

describe("the metrics port", () => {
  const ask = async (at: string) => {
    const response = await fetch(`${toolchain.endpoints.metrics ?? ""}${at}`);
    return { status: response.status, body: (await response.json()) as unknown };
  };

  test("says that the process is alive, and ready with all that its roles need", async () => {
    expect(await ask("/healthz")).toEqual({ status: 200, body: { status: "ok" } });
    const stores = { postgres: "ok", clickhouse: "ok", event_log: "ok", enrichment: "ok", collection: "ok" };
    expect(await ask("/readyz")).toEqual({ status: 200, body: { status: "ok", stores } });
  });

  test("says what is missing while a store does not answer, and that the process is alive all the same", async () => {
    const [clickhouse = 0] = pidsIn(join(toolchain.dataDir, "clickhouse"));
    process.kill(clickhouse, "SIGSTOP");
    try {
      // Its threads stop a moment after the signal.
      await expect
        .poll(() => ask("/readyz"))
        .toMatchObject({ status: 503, body: { message: "Not ready: clickhouse." } });
      expect((await ask("/healthz")).status).toBe(200);
    } finally {
      process.kill(clickhouse, "SIGCONT");
    }
    await expect.poll(async () => (await ask("/readyz")).status).toBe(200);
  });
});
