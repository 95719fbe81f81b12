import type { ClickHouseClient } from "@clickhouse/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { abortedAmong } from "../../../../api/features/imports/import-progress.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, makeExporting, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { startUpload } from "../../../support/imports/start-upload.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };

let clickhouse: ClickHouseClient;
let pool: pg.Pool;
let made = 0;
let organization: string;
let image: KnownArtifact;
let files: KnownArtifact;
let pixel: KnownArtifact;

useToolchain();
beforeAll(async () => {
  clickhouse = connectClickHouse(toolchain.endpoints.clickhouse ?? "");
  pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres, max: 2 });
});

afterAll(async () => {
  await clickhouse?.close();
  await pool?.end();
});

beforeEach(async () => {
  organization = await makeExporting(`erasing${made++}`);
  image = await makePackage(api, { organization, name: "image", libraryType: "docker" });
  files = await makePackage(api, { organization, name: "files", libraryType: "other" });
  pixel = await makePixel(api, { owner: organization, name: "docs" });
});

/** Each key twice: the later line overrides the earlier. */
function linesInto({ kind, id }: KnownArtifact, count: number): string[] {
  return Array.from({ length: count * 2 }, (_, index) =>
    JSON.stringify({
      $time: `2025-03-1${index % 7}T12:00:00Z`,
      $unique_id: `event-${index % count}`,
      [`$${kind}`]: id,
      $remote_address: `18.66.22.${index % 200}`,
      $user_agent: "docker/27.3.1 go/go1.22.7 os/linux arch/amd64",
      $version: `1.${index % 5}`,
      channel: `c${index % 3}`,
    }),
  );
}

async function importLines(lines: readonly string[]): Promise<EventImport> {
  return api.pollToDone(await api.importBody(`/v2/${organization}/import`, lines.join("\n")));
}

const packagesExported = async () => [
  ...new Set((await api.readAggregates(organization, RANGE)).map((line) => line.package)),
];

async function remove(path: string): Promise<number> {
  return (await api.request(path, { method: "DELETE" })).status;
}

const TABLES = [
  ["events", "artifact"],
  ["event_ids", "artifact"],
  ["import_events", "artifact"],
  ["settlement_deltas", "artifact"],
  ["totals", "package"],
  ["uniques", "package"],
  ["breakdown_values", "package"],
  ["company_activity", "artifact"],
] as const;

/** The tables that hold something of an artifact. */
async function tablesWith({ id }: KnownArtifact): Promise<string[]> {
  const counts = TABLES.map(
    ([table, column]) => `SELECT '${table}' AS name, count() AS rows FROM ${table} WHERE ${column} = '${id}'`,
  );
  const answer = await clickhouse.query({ query: counts.join(" UNION ALL "), format: "JSONEachRow" });
  const rows = await answer.json<{ name: string; rows: string | number }>();
  return rows.filter((row) => Number(row.rows) > 0).map(({ name }) => name);
}

/** Lets the hour pass after which erasing looks once more. */
async function anHourLater({ id }: KnownArtifact): Promise<void> {
  const text = `update deleted_artifacts set deleted_at = deleted_at - interval '2 hours', due_at = now() where id = $1`;
  await pool.query(text, [id]);
}

async function isErased({ id }: KnownArtifact): Promise<boolean> {
  const { rows } = await pool.query<{ done: boolean }>(
    "select erased_at is not null as done from deleted_artifacts where id = $1",
    [id],
  );
  return rows[0]?.done ?? false;
}

describe("the events of a deleted package", () => {
  test("leave the exports at once and are erased from every table, and no others with them", async () => {
    const record = await importLines([
      ...linesInto(image, 50),
      ...linesInto(files, 50),
      ...linesInto(pixel, 5),
    ]);
    expect(await packagesExported()).toEqual([image.id, files.id].sort());
    const others = (await api.readAggregates(organization, RANGE)).filter(
      (line) => line.package === files.id,
    );
    expect(await tablesWith(image)).toEqual(
      expect.arrayContaining(["events", "event_ids", "breakdown_values"]),
    );

    expect(await remove(`/v1/packages/${image.id}`)).toBe(204);
    expect(await packagesExported()).toEqual([files.id]);
    await expect.poll(() => tablesWith(image)).toEqual([]);
    expect(await api.readAggregates(organization, RANGE)).toEqual(others);
    expect((await tablesWith(pixel)).length).toBeGreaterThan(0);

    // The import's record stays, and retracting it still works.
    expect(await api.get(`/v2/imports/${organization}/${record.id}`)).toMatchObject({ status: "done" });
    await retract(api, `/v2/imports/${organization}/${record.id}`);
    await expect.poll(packagesExported).toEqual([]);
    expect(await tablesWith(image)).toEqual([]);
  });

  test("are looked for once more after an hour, and what came in late goes as well", async () => {
    await importLines(linesInto(files, 3));
    expect(await remove(`/v1/packages/${files.id}`)).toBe(204);
    await expect.poll(() => tablesWith(files)).toEqual([]);
    const late = "INSERT INTO events (artifact, kind, time, sign) SELECT {id:UUID}, 'package', now(), 1";
    await using server = connectClickHouse(toolchain.clickhouseServers.at(-1) ?? "");
    await server.command({ query: late, query_params: { id: files.id } });
    expect((await tablesWith(files)).length).toBeGreaterThan(0);
    await anHourLater(files);
    await expect.poll(() => tablesWith(files)).toEqual([]);
    await anHourLater(files);
    await expect.poll(() => isErased(files)).toBe(true);
  });
});

/** Shows that erasing has looked for work once more. */
async function eraseOfAnotherOwner(): Promise<void> {
  await makeOrganization(api, "bystander");
  const other = await makePackage(api, { organization: "bystander", name: "other", libraryType: "other" });
  await api.pollToDone(await api.importBody("/v2/bystander/import", linesInto(other, 1).join("\n")));
  expect(await tablesWith(other)).toContain("events");
  expect(await remove(`/v1/packages/${other.id}`)).toBe(204);
  await expect.poll(() => tablesWith(other)).toEqual([]);
}

describe("an import that is running while its package is deleted", () => {
  test("ends with artifact-not-found for the lines behind, and what it had written is erased then", async () => {
    const lines = linesInto(image, 3_000);
    const { upload, started } = await startUpload(api, {
      owner: organization,
      path: `/v2/${organization}/import`,
    });
    await upload.send(`${lines.join("\n")}\n`);
    const path = `/v2/imports/${organization}/${started.id}`;
    await expect.poll(async () => (await api.get<EventImport>(path)).events_total).toBeGreaterThan(0);

    expect(await remove(`/v1/packages/${image.id}`)).toBe(204);
    // Enrichment trusts for a moment what it knew of the package.
    const refused = async () => (await importLines(linesInto(image, 1))).events_failed_to_import;
    await expect.poll(refused).toBeGreaterThan(0);
    await eraseOfAnotherOwner();
    expect(await tablesWith(image)).toContain("events");
    await upload.send([...lines, ...linesInto(files, 10)].join("\n"));
    upload.end();
    expect(await upload.answer).toMatchObject({ status: 200 });
    const record = await api.pollToDone(started);
    expect(record.status).toBe("done");
    expect(record.events_total).toBe(2 * lines.length + 20);
    expect(record.events_failed_to_import).toBeGreaterThanOrEqual(lines.length);
    expect(record.error_log_sample[0]).toMatchObject({ type: "artifact-not-found", package_id: image.id });

    expect(await packagesExported()).toEqual([files.id]);
    await expect.poll(() => tablesWith(image)).toEqual([]);
    expect(await packagesExported()).toEqual([files.id]);
  });
});

test("the import into a deleted package keeps its counts and no samples of its log", async () => {
  const lines = [...linesInto(image, 1), '{"$time": "soon"}', '{"$time": "2025-03-10T12:00:00Z", "$x": 1}'];
  const { id } = await api.pollToDone(
    await api.importBody(`/v2/packages/${organization}/${image.id}/import`, lines.join("\n")),
  );
  const read = () => api.get<EventImport>(`/v2/imports/${organization}/${id}`);
  const before = await read();
  expect([before.error_log_sample.length, before.warning_log_sample.length]).toEqual([1, 1]);
  expect(await remove(`/v1/packages/${image.id}`)).toBe(204);
  await expect.poll(read).toMatchObject({
    events_total: 4,
    events_failed_to_import: 1,
    error_log_sample: [],
    warning_log_sample: [],
  });
});

/** Log entries on all servers: a cluster may have put them on any. */
async function loggedOf(imports: readonly string[]): Promise<number> {
  const counts = toolchain.clickhouseServers.map(async (url) => {
    await using server = connectClickHouse(url);
    const query = "SELECT count() AS entries FROM import_log WHERE import_id IN {imports:Array(UUID)}";
    const answer = await server.query({ query, query_params: { imports }, format: "JSONEachRow" });
    return Number((await answer.json<{ entries: string }>())[0]?.entries);
  });
  return (await Promise.all(counts)).reduce((sum, entries) => sum + entries, 0);
}

test("refused lines go with an account that is removed right after its package, also those of imports into none", async () => {
  const leaving = await toolchain.newAccount("leaving");
  const { uuid } = await leaving.post<{ uuid: string }>("/v1/packages", {
    name: "own",
    shortDescription: "",
  });
  const refused = '{"$time": "soon", "$remote_address": "18.66.22.1"}';
  const paths = [`/v2/packages/leaving/${uuid}/import`, "/v2/leaving/import"];
  const records = await Promise.all(
    paths.map(async (path) => leaving.pollToDone(await leaving.importBody(path, refused))),
  );
  const imports = records.map(({ id }) => id);
  expect(await loggedOf(imports)).toBe(2);
  expect((await leaving.request(`/v1/packages/${uuid}`, { method: "DELETE" })).status).toBe(204);
  await toolchain.admin("remove-account", "leaving");
  // What is still in the event log of them is not read any more.
  expect((await abortedAmong(pool, imports)).sort()).toEqual(imports.sort());
  await expect.poll(() => loggedOf(imports)).toBe(0);
});

describe("the events of a deleted pixel", () => {
  test("are erased, and its id no longer takes any", async () => {
    await importLines(linesInto(pixel, 10));
    expect(await tablesWith(pixel)).toContain("events");
    expect(await remove(`/v2/tracking-pixels/${organization}/${pixel.id}`)).toBe(204);
    await expect.poll(() => tablesWith(pixel)).toEqual([]);
    const record = await importLines(linesInto(pixel, 1));
    expect(record).toMatchObject({ events_failed_to_import: 2, events_successfully_imported: 0 });
    expect(await tablesWith(pixel)).toEqual([]);
  });
});
