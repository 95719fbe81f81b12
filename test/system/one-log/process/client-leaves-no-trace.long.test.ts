import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { openEmbeddedLog } from "../../../../deploy/stores/embedded/event-log/event-log.js";
import type { CompanyRecord } from "../../../../schemas/contracts/funnel.js";
import type { ErasureRecord } from "../../../../schemas/contracts/erasure.js";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import type { AuditEntryRecord } from "../../../../schemas/contracts/audit-entry.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { liveRecord } from "../../../support/collect/live-record.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { api, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";

const RANGE = { startDate: "2026-03-01", endDate: "2026-04-01" };
const DATES = `startDate=${RANGE.startDate}&endDate=${RANGE.endDate}`;
/** The client that is erased, and another one. */
const ERASED = "18.66.22.4";
const OTHER = "141.113.0.20";
/** Two organizations get the same lines, but for those of the client: only one of them erases. */
const [ERASING, NEVER] = ["erasing-client", "never-had-it"];

let clickhouse: ClickHouseClient;

useToolchain({ organizations: [ERASING] });
beforeAll(async () => {
  clickhouse = connectClickHouse(toolchain.endpoints.clickhouse ?? "");
  // Parts that a merge or a deletion replaced stay for eight minutes otherwise.
  for (const table of ["events", "uniques", "totals", "address_sets", "address_numbers", "import_log"])
    await clickhouse.command({ query: `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1` });
});

afterAll(() => clickhouse?.close());

interface Line {
  day: number;
  id?: string;
  address: string;
  into?: "image" | "files" | "docs";
  agent?: string;
}

/** Overrides in both directions between the clients, several days, kinds of artifacts, and events without a key. */
const LINES: Line[] = [
  ...Array.from({ length: 40 }, (_, n) => ({ day: 1 + (n % 9), address: n % 3 === 0 ? ERASED : OTHER })),
  { day: 2, id: "theirs-then-ours", address: ERASED },
  { day: 3, id: "theirs-then-ours", address: OTHER },
  { day: 4, id: "ours-then-theirs", address: OTHER },
  { day: 5, id: "ours-then-theirs", address: ERASED },
  { day: 20, address: ERASED, into: "files" },
  { day: 20, address: OTHER, into: "files" },
  { day: 21, address: ERASED, into: "docs" },
  { day: 21, address: OTHER, into: "docs" },
  { day: 22, address: ERASED, agent: "docker/28.1" },
];

async function importInto(organization: string, lines: readonly Line[], extra: readonly string[] = []) {
  const ids = await artifactsOf(organization);
  const text = lines.map(({ day, id, address, into = "image", agent = "docker/27.3.1" }) =>
    JSON.stringify({
      $time: `2026-03-${String(day).padStart(2, "0")}T12:00:00Z`,
      ...(id !== undefined && { $unique_id: id }),
      [into === "docs" ? "$pixel" : "$package"]: ids[into],
      $remote_address: address,
      $user_agent: agent,
      $version: `1.${day}`,
      channel: "stable",
    }),
  );
  const body = [...text, ...extra].join("\n");
  return api.pollToDone(await api.importBody(`/v2/${organization}/import`, body));
}

const made = new Map<string, Record<"image" | "files" | "docs", string>>();

async function artifactsOf(organization: string) {
  const known = made.get(organization);
  if (known !== undefined) return known;
  const image = await makePackage(api, { organization, name: "image", libraryType: "docker" });
  const files = await makePackage(api, { organization, name: "files", libraryType: "other" });
  const docs = await makePixel(api, { owner: organization, name: "docs" });
  const ids = { image: image.id, files: files.id, docs: docs.id };
  made.set(organization, ids);
  return ids;
}

/** Everything that counts, with names in place of ids. */
async function numbersOf(organization: string) {
  const ids = await artifactsOf(organization);
  const named = (text: string) =>
    Object.entries(ids).reduce((all, [name, id]) => all.replaceAll(id, name), text);
  const aggregates = (await api.readAggregates(organization, RANGE)).map((line) =>
    named(JSON.stringify(line)),
  );
  const stats = async (query: string) => {
    const { complete_through: _, ...all } = await api.get<Statistics>(`/v2/${organization}/stats?${query}`);
    return named(JSON.stringify(all));
  };
  await api.post(`/v2/${organization}/funnel/run`, {});
  const { companies } = await api.get<{ companies: CompanyRecord[] }>(`/v2/${organization}/companies`);
  return {
    aggregates: aggregates.sort(),
    whole: await stats(DATES),
    filtered: await stats(`${DATES}&platform=&client=docker`),
    views: await stats(`${DATES}&pixel=docs`),
    companies: companies.map(({ domain, downloads, views }) => ({ domain, downloads, views })),
    events: await eventsOf(organization),
  };
}

async function eventsOf(organization: string): Promise<string[]> {
  const ids = await artifactsOf(organization);
  const rows: string[] = [];
  for (const id of [ids.image, ids.files]) {
    const path = `/v1/packages/${id}/events/events.ndjson?${DATES}`;
    for (const line of await api.readLines(path)) {
      const withoutIds = { id: undefined, origin_id: undefined, endpoint_id: undefined };
      rows.push(JSON.stringify({ ...(JSON.parse(line) as object), ...withoutIds }));
    }
  }
  return rows.sort();
}

async function clientOf(organization: string, agent: string) {
  const { image } = await artifactsOf(organization);
  const lines = await api.readLines(`/v1/packages/${image}/events/events.ndjson?${DATES}`);
  const events = lines.map((line) => JSON.parse(line) as Record<string, string>);
  const found = events.find((event) => event["user_agent"] === agent && event["origin_country"] !== "DE");
  return { origin_id: found?.["origin_id"] ?? "", endpoint_id: found?.["endpoint_id"] ?? "" };
}

async function erased(body: object): Promise<ErasureRecord> {
  const begun = await api.post<ErasureRecord>(`/v2/${ERASING}/erasures`, body);
  const path = `/v2/${ERASING}/erasures/${begun.id}`;
  await expect.poll(async () => (await api.get<ErasureRecord>(path)).status).toBe("done");
  return api.get<ErasureRecord>(path);
}

/** The files below a folder that hold any of these texts or bytes. */
async function filesWith(folder: string, needles: readonly (string | Buffer)[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (needles.some((needle) => bytes.includes(needle))) found.push(path.slice(folder.length));
  }
  return found;
}

/** Texts that were refused, of either client, with the address in one that is no JSON. */
const REFUSED = [`{"$time": "yesterday", "$remote_address": "${ERASED}"}`, `GET /x ${ERASED} broken`];
const REFUSED_OF_OTHER = `{"$time": "yesterday", "$remote_address": "${OTHER}"}`;

let record: EventImport;

test("a client that is erased is as if it had never been there, in every number and every file", async () => {
  await makeOrganization(api, NEVER);
  await toolchain.admin("grant-export", NEVER);
  record = await importInto(ERASING, LINES, [...REFUSED, REFUSED_OF_OTHER]);
  await importInto(
    NEVER,
    LINES.filter(({ address }) => address !== ERASED),
    [REFUSED_OF_OTHER],
  );
  const { endpoint_id, origin_id } = await clientOf(ERASING, "docker/27.3.1");
  const second = await clientOf(ERASING, "docker/28.1");
  expect(second.endpoint_id).toBe(endpoint_id);
  const ids = [endpoint_id, origin_id, second.origin_id];
  // 64 bits of it count addresses.
  const address = Buffer.from(endpoint_id, "hex").subarray(0, 8);
  const needles = [...ids.flatMap((id) => [id, Buffer.from(id, "hex")]), address];
  expect(await filesWith(toolchain.dataDir, needles)).not.toEqual([]);
  const done = await erased({ endpoint_id: endpoint_id.toUpperCase() });
  expect(done).toMatchObject({ client: "endpoint_id", rejected_lines_erased: 2 });
  expect(done.events_erased).toBe(LINES.filter(({ address }) => address === ERASED).length);
  expect(await numbersOf(ERASING)).toEqual(await numbersOf(NEVER));
  expect(await api.readLines(`/v2/imports/${ERASING}/${record.id}/rejected`)).toEqual([REFUSED_OF_OTHER]);
  // Reads every file of the installation.
  await expect.poll(() => filesWith(toolchain.dataDir, needles), { interval: 1_000 }).toEqual([]);
  expect(toolchain.log()).not.toContain(endpoint_id);
});

test("one program of a client can be erased alone, and what comes later counts", async () => {
  await importInto(ERASING, [
    { day: 10, address: ERASED, agent: "docker/28.1" },
    { day: 10, address: ERASED },
  ]);
  const { origin_id } = await clientOf(ERASING, "docker/28.1");
  expect(await erased({ origin_id })).toMatchObject({ client: "origin_id", events_erased: 1 });
  await importInto(NEVER, [{ day: 10, address: ERASED }]);
  expect(await numbersOf(ERASING)).toEqual(await numbersOf(NEVER));
  await importInto(ERASING, [{ day: 10, address: ERASED, agent: "docker/28.1" }]);
  await importInto(NEVER, [{ day: 10, address: ERASED, agent: "docker/28.1" }]);
  expect(await numbersOf(ERASING)).toEqual(await numbersOf(NEVER));
});

test("lines go that were received before, though their receipt stamps are ahead of the clock, and not a later import", async () => {
  const ids = await artifactsOf(ERASING);
  const line = (path: string) => `{"$time":"2026-03-25T12:00:00Z","$package":"${ids.image}",${path}}`;
  const of = (agent: string) => line(`"$remote_address":"${ERASED}","$user_agent":"${agent}"`);
  const agents = async () =>
    (await eventsOf(ERASING))
      .filter((event) => event.includes("2026-03-25"))
      .map(agentOf)
      .sort();
  const pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres, max: 1 });
  const ahead = Date.now() + 3_600_000;
  await importInto(ERASING, [{ day: 24, address: OTHER }]);
  await pool.query(
    "update imports set last_stamp = $1 where owner_id = (select id from owners where name = $2)",
    [ahead, ERASING],
  );
  await pool.end();
  await api.pollToDone(await api.importBody(`/v2/${ERASING}/import`, of("docker/1")));
  {
    await using log = await openEmbeddedLog({ dir: join(toolchain.dataDir, "log") });
    await log.append([liveRecord(of("docker/2"), { receiptStamp: ahead })], { partition: 0 });
  }
  await expect.poll(agents).toEqual(["docker/1", "docker/2"]);
  const { endpoint_id } = await clientOf(ERASING, "docker/2");
  const begun = await api.post<ErasureRecord>(`/v2/${ERASING}/erasures`, { endpoint_id });
  const record = await api.pollToDone(await api.importBody(`/v2/${ERASING}/import`, of("docker/3")));
  expect(record.status).toBe("done");
  const path = `/v2/${ERASING}/erasures/${begun.id}`;
  await expect.poll(async () => (await api.get<ErasureRecord>(path)).status).toBe("done");
  expect(await api.get<ErasureRecord>(path)).toMatchObject({ waiting_for: null });
  expect(await agents()).toEqual(["docker/3"]);
});

function agentOf(event: string): string {
  return (JSON.parse(event) as { user_agent: string }).user_agent;
}

test("the log of a retracted import goes with its events, refused lines and samples included", async () => {
  const path = `/v2/imports/${ERASING}/${record.id}`;
  expect((await api.request(path, { method: "DELETE" })).status).toBe(204);
  await expect.poll(() => api.readLines(`${path}/rejected`)).toEqual([]);
  await expect.poll(async () => (await api.get<EventImport>(path)).error_log_sample).toEqual([]);
  expect((await api.readLines(`${path}/log`)).map((line) => JSON.parse(line) as object)).toMatchObject([
    { type: "retracted" },
  ]);
});

test("the records are listed and audited without the client's id, and a wrong body is refused", async () => {
  const { erasures } = await api.get<{ erasures: ErasureRecord[] }>(`/v2/${ERASING}/erasures`);
  expect(erasures.map(({ client, status }) => [client, status])).toEqual([
    ["endpoint_id", "done"],
    ["origin_id", "done"],
    ["endpoint_id", "done"],
  ]);
  const path = `/v2/${ERASING}/audit?action=erasures.create`;
  const { audit_entries: entries } = await api.get<{ audit_entries: AuditEntryRecord[] }>(path);
  expect(entries.map(({ target, changes }) => [target, changes])).toEqual(
    erasures.map(({ id, client }) => [{ kind: "erasure", id, name: client }, {}]),
  );
  for (const body of [
    {},
    { endpoint_id: "1" },
    { endpoint_id: "0f".repeat(16), origin_id: "0f".repeat(16) },
  ]) {
    const answer = await api.request(`/v2/${ERASING}/erasures`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([answer.status, await answer.json()]).toMatchObject([422, { code: "invalid-body" }]);
  }
});
