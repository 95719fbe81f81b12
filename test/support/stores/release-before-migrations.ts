import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { composeAggregates } from "../../../aggregate/queries/compose-aggregates.js";
import { FORMAT_SETTINGS } from "../../../aggregate/queries/format-rows.js";
import { openEvents } from "../../../aggregate/queries/events/open-events.js";
import { openRows } from "../../../aggregate/queries/open-rows.js";
import { storableRange } from "../../../aggregate/queries/storable-range.js";
import { storedColumns } from "../../../aggregate/queries/stored-columns.js";
import { ONE_BLOCK, settle } from "../../../aggregate/settlement/settle.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { BREAKDOWN_LIST } from "../../../schemas/contracts/breakdowns.js";
import { leastVersion } from "../../../schemas/records/event-version.js";
import { textOf } from "../api/open-answer.js";
import type { KnownArtifact } from "../imports/recount-line.js";
import type { TestClickHouse } from "./open-clickhouse.js";
import { insertChunk, openJournal, scopeBetween, type Version } from "./settlement-world.js";
import { DAY_MS } from "../../../schemas/date-range.js";

/** The statements of the release that recorded no migrations, and what its exports answered after `writeHistory`. */
const RELEASE = new URL("../../fixtures/clickhouse-before-migrations/", import.meta.url);

/** Makes the database that the URL names as that release made it. */
export async function prepareReleaseBefore(url: string): Promise<void> {
  const server = connectClickHouse(url, { database: "default" });
  await server.command({ query: "CREATE DATABASE IF NOT EXISTS maintainer ENGINE = Atomic" });
  await server.close();
  const client = connectClickHouse(url);
  const tables = new URL("tables/", RELEASE);
  for (const name of (await readdir(tables)).sort()) {
    const text = await readFile(new URL(name, tables), "utf8");
    const statements = text.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
    for (const query of statements) await client.command({ query });
  }
  await client.close();
}

/** Answers of that release, by name. */
export async function answersBefore(): Promise<Exports> {
  const read = (name: string) => readFile(new URL(name, RELEASE), "utf8");
  const [lines, rows, events] = await Promise.all(
    ["aggregates.ndjson", "aggregates.csv", "events.csv"].map(read),
  );
  return { lines: lines ?? "", rows: rows ?? "", events: events ?? "" };
}

const uuidAt = (number: number) => `0195b2f0-0000-7000-8000-${String(number).padStart(12, "0")}`;

const ARTIFACTS: readonly KnownArtifact[] = [
  { kind: "package", id: uuidAt(1), libraryType: "docker" },
  { kind: "package", id: uuidAt(2), libraryType: "other" },
  { kind: "pixel", id: uuidAt(3), libraryType: "" },
];
export const PACKAGES = ARTIFACTS.map(({ id }) => ({ id, name: "web" }));

/** The second overrides half of the first; the third overrides both and is retracted. */
export const IMPORTS = { first: uuidAt(11), second: uuidAt(12), retracted: uuidAt(13) };
const STAMP = Date.parse("2025-06-01T00:00:00Z");

const AGENTS = ["agent0", "agent1", "agent2", "agent3"];

interface Chunk {
  order: number;
  every: number;
  /** User agents, one after the other. */
  agents?: readonly string[] | undefined;
}

/** The events of an import: `every`th of 30 keys, each differing in everything from those of the other imports. */
export function chunkOf(importId: string, { order, every, agents = AGENTS }: Chunk): Version[] {
  const keys = Array.from({ length: 30 }, (_, key) => key).filter((key) => key % every === 0);
  return keys.map((key, line) => ({
    importId,
    stamp: STAMP + order,
    line,
    event: {
      artifact: ARTIFACTS[key % 3] as KnownArtifact,
      key: `e${key}`,
      time: Date.parse("2025-03-30T12:00:00Z") + ((key + order) % 4) * DAY_MS,
      version: `${order}.${key % 5}`,
      userAgent: agents[(key + order) % agents.length] as string,
      address: `192.0.2.${(key + 7 * order) % 20}`,
      variables: new Map([
        ["channel", `c${(key + order) % 3}`],
        ["say", 'a "word"\\'],
      ]),
    },
  }));
}

/** Imports, overrides and a retraction, settled as they came, as that release settled. */
export async function writeHistory(
  clickhouse: TestClickHouse,
  { agents }: Pick<Chunk, "agents"> = {},
): Promise<void> {
  await insertChunk(clickhouse, chunkOf(IMPORTS.first, { order: 0, every: 1, agents }), "first");
  await settleBefore(clickhouse, IMPORTS.first);
  await insertChunk(clickhouse, chunkOf(IMPORTS.second, { order: 1, every: 2, agents }), "second");
  await settleBefore(clickhouse, IMPORTS.second);
  await insertChunk(clickhouse, chunkOf(IMPORTS.retracted, { order: 2, every: 3, agents }), "retracted");
  await settleBefore(clickhouse, IMPORTS.retracted);
  await clickhouse.client.command({
    query: `INSERT INTO retracted_imports (import_id) SELECT '${IMPORTS.retracted}'`,
  });
  await settleBefore(clickhouse, IMPORTS.retracted, { retracted: true });
}

/** Settles with the statements of that release. */
async function settleBefore(
  { client }: TestClickHouse,
  importId: string,
  { retracted = false } = {},
): Promise<void> {
  const batch = randomUUID();
  const [fromVersion, toVersion] = [STAMP, STAMP + 1_001].map((stamp) => leastVersion(stamp));
  const columns = (await storedColumns(client, "events")).join(", ");
  for (const name of ["find-candidates", "find-deltas", "copy-superseded", "apply-deltas"]) {
    const text = await readFile(new URL(`settlement/${name}.sql`, RELEASE), "utf8");
    await client.command({
      query: text.replaceAll("{columns}", columns),
      query_params: { batch, importId, fromVersion, toVersion, retracted },
      clickhouse_settings: {
        async_insert: 0,
        wait_end_of_query: 1,
        ...(name === "apply-deltas" && { ...ONE_BLOCK, insert_deduplication_token: `settlement:${batch}` }),
      },
    });
  }
}

/** Answers how many versions it removed or restored. */
export async function settleAll(
  { shards }: TestClickHouse,
  importId: string,
  { retracted = false } = {},
): Promise<number> {
  const scope = scopeBetween(importId, { from: STAMP, to: STAMP + 1_000, retracted });
  return settle(shards, scope, { batch: randomUUID(), owner: openJournal() });
}

/** Exports of the same rows: aggregates as lines and as rows, and events, which come in no order, sorted. */
export interface Exports {
  lines: string;
  rows: string;
  events: string;
}

/** New breakdowns and columns go last: those of the release are the first. */
const BREAKDOWNS_BEFORE = BREAKDOWN_LIST.slice(0, 8);
const EVENT_COLUMNS_BEFORE = 23;

/** Exports of the history, with the breakdowns and columns that the release had. */
export async function readExports({ client }: TestClickHouse): Promise<Exports> {
  const range = { startDate: "2025-01-01", endDate: "2026-01-01" };
  const { signal } = new AbortController();
  const aggregates = async (format: "ndjson" | "csv") => {
    const breakdowns = BREAKDOWNS_BEFORE.map(({ name }) => name);
    const query = composeAggregates({ packages: PACKAGES, breakdowns, format }, BREAKDOWNS_BEFORE);
    const params = storableRange(range);
    const text = await textOf(await openRows(client, { query, params, signal, settings: FORMAT_SETTINGS }));
    // The release had no names of packages.
    return format === "csv" ? text.replace(/,"(package_name|web)"$/gm, "") : text;
  };
  const events = await openEvents(client, {
    ...range,
    artifacts: PACKAGES.map(({ id, name }) => ({ id, packageName: name })),
    unsettled: async () => ({ imports: [], fromVersion: "0", retracted: [], changed: false }),
    format: "csv",
    signal,
  });
  const rows = (await textOf(events)).split("\n").map((row) => {
    return row.split(",").slice(0, EVENT_COLUMNS_BEFORE).join(",");
  });
  return {
    lines: await aggregates("ndjson"),
    rows: await aggregates("csv"),
    events: rows.sort().join("\n"),
  };
}
