import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onConnection } from "../../../../api/base/postgres/connection.js";
import { type RemovedKind, cleanUpJobs } from "../../../../deploy/schedule/scheduled-jobs.js";
import { connectShards } from "../../../../deploy/stores/clickhouse/connect-shards.js";
import { DAY_MS, dateAt } from "../../../../schemas/date-range.js";
import { removableBefore } from "../../../../schemas/event-retention.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import { makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { retract } from "../../../support/imports/import-outcome.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, restart, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";

const DAYS = 100;
const ORGANIZATION = "keeping";
const REMOVED = removableBefore(Date.now(), DAYS);
const OLD_DAY = dateAt(Date.parse(REMOVED) - 20 * DAY_MS);
const NEW_DAY = dateAt(Date.now() - 5 * DAY_MS);

let shards: ReturnType<typeof connectShards>;
let pool: pg.Pool;
let image: KnownArtifact;
let pixel: KnownArtifact;

async function connect(): Promise<void> {
  shards = connectShards(toolchain.clickhouseSource);
  pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres, max: 2 });
}

async function disconnect(): Promise<void> {
  await shards?.[Symbol.asyncDispose]();
  await pool?.end();
}

useToolchain({ organizations: [ORGANIZATION] });
beforeAll(async () => {
  image = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
  pixel = await makePixel(api, { owner: ORGANIZATION, name: "docs" });
  await connect();
});

afterAll(disconnect);

const lineOf = (day: string, id: string, artifact: KnownArtifact = image) =>
  JSON.stringify({
    $time: `${day}T12:00:00Z`,
    $unique_id: id,
    [`$${artifact.kind}`]: artifact.id,
    $remote_address: "18.66.22.4",
    $version: "1.0",
  });

async function importLines(lines: readonly string[]): Promise<EventImport> {
  return api.pollToDone(await api.importBody(`/v2/${ORGANIZATION}/import`, lines.join("\n")));
}

/** Runs the job as the schedule does. */
async function removeOld(retention: object = {}): Promise<Map<RemovedKind, number>> {
  const removed = new Map<RemovedKind, number>();
  const job = cleanUpJobs({
    shards,
    retention: {
      eventsDays: DAYS,
      importLogsDays: 90,
      rejectedLinesDays: 90,
      deliveriesDays: 30,
      ...retention,
    },
    onRemoved: (kind, { rows }) => removed.set(kind, rows),
  }).find(({ name }) => name === "retention");
  await onConnection(pool, async (connection) => job?.run(connection, new AbortController().signal));
  return removed;
}

const totals = async () => {
  const range = { startDate: dateAt(Date.parse(OLD_DAY) - DAY_MS), endDate: dateAt(Date.now()) };
  const lines = await api.readAggregates(ORGANIZATION, range);
  return lines.filter(({ breakdown }) => breakdown === "total").map((line) => [line.date, line["total"]]);
};

const exported = (startDate: string) =>
  api.request(
    `/v1/packages/image/events/events.csv?startDate=${startDate}&endDate=${dateAt(Date.parse(startDate) + 31 * DAY_MS)}`,
  );

async function rowsIn(table: string): Promise<number> {
  const answer = await shards.all.query({
    query: `SELECT count() AS rows FROM ${table}`,
    format: "JSONEachRow",
  });
  const [counted] = await answer.json<{ rows: string }>();
  return Number(counted?.rows);
}

test("old events go and their breakdowns stay, and everything that reads events says so", async () => {
  await importLines([
    ...["a", "b", "c"].map((id) => lineOf(OLD_DAY, id)),
    lineOf(NEW_DAY, "b"),
    lineOf(NEW_DAY, "d"),
    lineOf(OLD_DAY, "seen", pixel),
  ]);
  const before = await totals();
  expect(before).toEqual([
    [OLD_DAY, 2],
    [NEW_DAY, 2],
  ]);
  expect((await exported(OLD_DAY)).status).toBe(200);
  const removed = await removeOld();
  // The version of b that its override took out is two rows.
  expect(removed.get("events")).toBe(5);
  expect(await totals()).toEqual(before);
  const refused = await exported(OLD_DAY);
  expect([refused.status, await refused.json()]).toMatchObject([410, { code: "no-longer-kept" }]);
  const kept = await exported(dateAt(Date.parse(NEW_DAY) - DAY_MS));
  expect((await kept.text()).trim().split("\n")).toHaveLength(1 + 2);
  await expect.poll(() => rowsIn("event_ids")).toBe(2);
  const asked = `startDate=${OLD_DAY}&endDate=${dateAt(Date.now())}`;
  const short = `startDate=${dateAt(Date.parse(REMOVED) - 2 * DAY_MS)}&endDate=${dateAt(Date.parse(REMOVED) + 9 * DAY_MS)}`;
  const path = `/v2/${ORGANIZATION}/stats`;
  const whole = await api.get<Statistics>(`${path}?${asked}&package=image`);
  expect([whole.totals.downloads, whole.events_from]).toEqual([4, undefined]);
  expect((await api.get<Statistics>(`${path}?${short}&package=image&country=US`)).events_from).toBe(REMOVED);
  expect((await api.get<Statistics>(`${path}?${asked}`)).events_from).toBe(REMOVED);
  expect((await removeOld()).get("events")).toBe(0);
});

test("a closed day takes no more lines, and an event of it that comes again for a kept day counts there as well", async () => {
  await disconnect();
  await restart();
  await connect();
  const lines = [
    lineOf(OLD_DAY, "a"),
    lineOf(OLD_DAY, "new"),
    lineOf(OLD_DAY, "seen", pixel),
    lineOf(NEW_DAY, "a"),
  ];
  const dry = await api.importBody(`/v2/${ORGANIZATION}/import?dryRun=true`, lines.join("\n"));
  expect(dry).toMatchObject({ events_failed_to_import: 3 });
  const record = await importLines(lines);
  expect(record).toMatchObject({ events_successfully_imported: 1, events_failed_to_import: 3 });
  expect(record.error_log_sample.map(({ type }) => type)).toEqual(Array(3).fill("past-retention"));
  expect(await totals()).toEqual([
    [OLD_DAY, 2],
    [NEW_DAY, 3],
  ]);
  await retract(api, `/v2/imports/${ORGANIZATION}/${record.id}`);
  expect(await totals()).toEqual([
    [OLD_DAY, 2],
    [NEW_DAY, 2],
  ]);
});

test("texts of refused lines go before the entries about them", async () => {
  const refused = '{"$time": "yesterday", "$remote_address": "203.0.113.7"}';
  const { id } = await importLines([refused, lineOf(NEW_DAY, "e")]);
  const path = `/v2/imports/${ORGANIZATION}/${id}`;
  expect(await api.readLines(`${path}/rejected`)).toEqual([refused]);
  expect((await removeOld()).get("rejected_lines")).toBe(0);
  expect((await removeOld({ rejectedLinesDays: 0 })).get("rejected_lines")).toBeGreaterThan(0);
  const textsLeft = async () => {
    // A text of this very second is not old enough yet.
    await removeOld({ rejectedLinesDays: 0 });
    return rowsIn("import_log WHERE line_bytes != ''");
  };
  await expect.poll(textsLeft).toBe(0);
  expect(await api.readLines(`${path}/rejected`)).toEqual([]);
  expect(await api.readLines(`${path}/log`)).toHaveLength(1);
  let removed = 0;
  const entriesLeft = async () => {
    // It waits until the table is rewritten without the texts.
    removed += (await removeOld({ importLogsDays: 0 })).get("import_logs") ?? 0;
    return rowsIn("import_log");
  };
  await expect.poll(entriesLeft).toBe(0);
  expect(removed).toBeGreaterThan(0);
});

test("the samples of a log go from the import's record as old as its entries, and the counts stay", async () => {
  const { id } = await importLines(['{"$time": "yesterday"}', lineOf(NEW_DAY, "f")]);
  const read = () => api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${id}`);
  const received = (ago: string) =>
    pool.query(
      `update import_chunks set receipt_stamp = extract(epoch from now() - $2::interval) * 1000 where import_id = $1`,
      [id, ago],
    );
  const before = await read();
  expect(before.error_log_sample).toHaveLength(1);
  await received("89 days");
  await removeOld();
  expect(await read()).toEqual(before);
  await received("91 days");
  await pool.query("update import_chunks set dead_letter_lines = 1 where import_id = $1", [id]);
  await removeOld();
  expect(await read()).toEqual(before);
  await pool.query("update import_chunks set dead_letter_lines = null where import_id = $1", [id]);
  await removeOld();
  expect(await read()).toEqual({ ...before, error_log_sample: [] });
});
