import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrateClickHouse } from "../../../../aggregate/clickhouse/migrate-clickhouse.js";
import {
  breakdownMigrations,
  dailyTables,
  readMigrations,
} from "../../../../aggregate/clickhouse/read-migrations.js";
import { composeAggregates, openAggregates } from "../../../../aggregate/queries/open-aggregates.js";
import { FORMAT_SETTINGS, openRows } from "../../../../aggregate/queries/open-rows.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { prepareClickHouse } from "../../../../deploy/stores/clickhouse/prepare-clickhouse.js";
import { BREAKDOWN_LIST, type ValueBreakdown } from "../../../../schemas/contracts/breakdowns.js";
import { Random } from "../../../../deploy/demo/random.js";
import { DAY_MS } from "../../../../schemas/date-range.js";
import { migrationOf } from "../../../../schemas/migrations.js";
import { textOf } from "../../../support/api/management-world.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";
import { insertChunk, type Version } from "../../../support/stores/settlement-world.js";

const PACKAGE = "0195b2f0-0000-7000-8000-000000000001";

describe("a service's tables", () => {
  let clickhouse: TestClickHouse;

  beforeAll(async () => {
    clickhouse = await openTestClickHouse((url) => prepareClickHouse(url, { lock: "alone" }));
  });

  afterAll(() => clickhouse?.[Symbol.asyncDispose]());

  test("are recorded, and a second start applies nothing", async () => {
    const applied = () => clickhouse.rows("SELECT name, checksum FROM migrations ORDER BY name");
    const known = (await readMigrations()).map(({ name, checksum }) => ({ name, checksum }));
    const sorted = known.sort((one, other) => (one.name < other.name ? -1 : 1));
    expect(await applied()).toEqual(sorted);
    await prepareClickHouse(clickhouse.url, { lock: "alone" });
    expect(await applied()).toEqual(sorted);
  });

  test("count later events as well once they are restored from a backup", async () => {
    const tables = (await dailyTables()).map(({ table }) => table);
    const sums = async () => {
      const selects = tables.map((table) => `(SELECT sum(total) FROM ${table}) AS ${table}`);
      const [row] = await clickhouse.rows<Record<string, string>>(`SELECT ${selects.join(", ")}`);
      return tables.map((table) => Number(row?.[table]));
    };
    await insertChunk(clickhouse, chunkOf(3), "before");
    const backedUp = await sums();
    expect(Math.min(...backedUp)).toBeGreaterThan(0);
    const session_id = randomUUID();
    const server = connectClickHouse(clickhouse.url, { database: "default" });
    for (const query of [
      "BACKUP DATABASE maintainer TO Memory('backup')",
      "DROP DATABASE maintainer SYNC",
      "RESTORE DATABASE maintainer FROM Memory('backup')",
    ])
      await server.command({ query, session_id });
    await server.close();
    await insertChunk(clickhouse, chunkOf(4), "after");
    expect(await sums()).toEqual(backedUp.map((sum) => 2 * sum));
  });

  test("count a ninth breakdown from its first event on, once it is in the list", async () => {
    const agent: ValueBreakdown = {
      name: "agent",
      title: "Downloads by user agent",
      values: [{ column: "user_agent", field: "agent" }],
    };
    const { client } = clickhouse;
    const known = [...(await readMigrations()), ...breakdownMigrations([...BREAKDOWN_LIST, agent]).slice(-1)];
    const counted = async (breakdown: string, format: "ndjson" | "csv") => {
      const packages = [{ id: PACKAGE, name: "web", libraryType: "docker" as const }];
      const rows = await openRows(client, {
        query: composeAggregates({ packages, breakdowns: [breakdown], format }, [...BREAKDOWN_LIST, agent]),
        params: { start: "2025-01-01", end: "2026-01-01" },
        settings: FORMAT_SETTINGS,
        signal: new AbortController().signal,
      });
      return textOf(rows);
    };
    // The lookups of this world call a client what its user agent is.
    const clients = async () =>
      (await counted("client", "ndjson"))
        .replaceAll(/"client":"(\w+)",.*/g, '"agent":"$1"}')
        .replaceAll('"client"', '"agent"');

    await insertChunk(clickhouse, chunkOf(1), "first");
    await migrateClickHouse([client], { known });
    expect(await clients()).toContain('"agent":"agent1"}');
    expect(await counted("agent", "ndjson")).toBe(await clients());
    await client.command({ query: "DELETE FROM migrations WHERE name = 'breakdown-agent'" });
    await migrateClickHouse([client], { known });
    await insertChunk(clickhouse, chunkOf(2), "second");
    expect(await counted("agent", "ndjson")).toBe(await clients());
    const [header, first] = (await counted("agent", "csv")).split("\n");
    expect(header).toMatch(/^"breakdown","date",.*,"unique_total","package_name","agent"$/);
    expect(first).toMatch(/^"agent",.*,"web","agent\d"$/);
    await expect(prepareClickHouse(clickhouse.url, { lock: "alone" })).rejects.toThrow("breakdown-agent");
  });
});

describe("the aggregates of many packages", () => {
  let clickhouse: TestClickHouse;

  beforeAll(async () => {
    clickhouse = await openTestClickHouse((url) => prepareClickHouse(url, { lock: "alone" }));
  });

  afterAll(() => clickhouse?.[Symbol.asyncDispose]());

  const ids = Array.from({ length: 30 }, (_, index) => uuidOf(index));
  const asked = {
    // So that versions, which are exported for docker packages alone, have a condition of their own.
    packages: ids.map((id, index) => ({
      id,
      name: "",
      libraryType: (["docker", "npm"] as const)[index % 2]!,
    })),
    breakdowns: ["company", "country", "variable", "version"] as const,
  };

  const isDocker = (key: string) =>
    asked.packages.some(({ id, libraryType }) => libraryType === "docker" && key.startsWith(id));

  test("flow in the order of the text of their ids, then date, breakdown and value, from any number of parts", async () => {
    const random = new Random(37);
    const rows = Array.from({ length: 3_000 }, () => ({
      package: ids[random.below(30)],
      date: `2025-03-0${1 + random.below(9)}`,
      breakdown: asked.breakdowns[random.below(4)],
      value_1: `v${random.below(12)}`,
      value_2: "",
      total: random.below(4) - 1,
      automated_total: 0,
    }));
    for (let from = 0; from < rows.length; from += 500)
      await clickhouse.client.insert({
        table: "breakdown_values",
        values: rows.slice(from, from + 500),
        format: "JSONEachRow",
      });
    const sums = new Map<string, number>();
    for (const { total, ...row } of rows) {
      const key = [row.package, row.date, row.breakdown, row.value_1].join(" ");
      sums.set(key, (sums.get(key) ?? 0) + total);
    }
    const range = { startDate: "2025-03-01", endDate: "2025-04-01", signal: new AbortController().signal };
    for (const isSharded of [false, true]) {
      const text = await textOf(
        await openAggregates(clickhouse.client, { ...asked, ...range, format: "csv", isSharded }),
      );
      const lines = text.trim().replaceAll('"', "").split("\n").slice(1);
      const keys = lines.map((line) => {
        const [breakdown, date, id, total, ...values] = line.split(",");
        return `${[id, date, breakdown, values.find((value) => /^v\d/.test(value))].join(" ")} ${total}`;
      });
      const positive = [...sums]
        .filter(([key, sum]) => sum > 0 && (isDocker(key) || !key.includes(" version ")))
        .sort(([one], [other]) => (one < other ? -1 : 1));
      expect(keys).toEqual(positive.map((entry) => entry.join(" ")));
    }
  });

  test("are not sorted on one server: only the lines of totals are", async () => {
    const stepsOf = async (breakdowns: readonly string[]) => {
      const query = composeAggregates({ ...asked, breakdowns, format: "ndjson" }).replace(/FORMAT \w+$/, "");
      const answer = await clickhouse.client.query({
        query: `EXPLAIN PIPELINE ${query}`,
        query_params: { start: "2025-03-01", end: "2025-04-01" },
        clickhouse_settings: FORMAT_SETTINGS,
        format: "TabSeparatedRaw",
      });
      return answer.text();
    };
    expect(await stepsOf(asked.breakdowns)).not.toContain("PartialSorting");
    const [merge, ...sorts] = (await stepsOf(["country", "total"])).split("PartialSorting");
    expect(sorts).toHaveLength(1);
    expect(merge).toContain("InOrder");
  });
});

/** Their texts have another order than their second halves, by which ClickHouse orders UUIDs. */
function uuidOf(index: number): string {
  const half = createHash("sha256").update(String(index)).digest("hex");
  return half.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5");
}

/** Thirty events of four days and agents. */
function chunkOf(order: number): Version[] {
  return Array.from({ length: 30 }, (_, key) => ({
    importId: `0195b2f0-0000-7000-8000-00000000001${order}`,
    stamp: Date.parse("2025-06-01T00:00:00Z") + order,
    line: key,
    event: {
      artifact: { kind: "package", id: PACKAGE, libraryType: "docker" },
      key: `${order}-${key}`,
      time: Date.parse("2025-03-30T12:00:00Z") + ((key + order) % 4) * DAY_MS,
      version: `${order}.${key % 5}`,
      userAgent: `agent${(key + order) % 4}`,
      address: `192.0.2.${(key + 7 * order) % 20}`,
      variables: new Map(),
    },
  }));
}

describe("migrations", () => {
  let clickhouse: TestClickHouse;

  beforeAll(async () => {
    clickhouse = await openTestClickHouse(async (url) => {
      const server = connectClickHouse(url, { database: "default" });
      await server.command({ query: "CREATE DATABASE maintainer" });
      await server.close();
    });
  });

  afterAll(() => clickhouse?.[Symbol.asyncDispose]());

  const things = migrationOf(
    "01-things.sql",
    `-- Which things?
    CREATE TABLE IF NOT EXISTS things (n UInt32) ENGINE = MergeTree ORDER BY n;
    -- Where there are no rows, nothing is counted.
    INSERT INTO things (n) SELECT 3;\n`,
  );
  const fill = (divisor: number) =>
    migrationOf(
      "02-fill.sql",
      `ALTER TABLE things ADD COLUMN IF NOT EXISTS half UInt32;
       ALTER TABLE things ADD COLUMN IF NOT EXISTS third UInt32;
       INSERT INTO things (n, half) SELECT 4, intDiv(8, ${divisor}) WHERE (SELECT count() FROM things) = 0;`,
    );
  const notes = async () => (await clickhouse.rows("SELECT name FROM migrations ORDER BY name")).length;

  test("of a new database that are cut short begin anew, and insert nothing", async () => {
    const { client } = clickhouse;
    const broken = migrationOf("02-broken.sql", "ALTER TABLE nothings ADD COLUMN half UInt32;");
    await expect(migrateClickHouse([client], { known: [things, broken] })).rejects.toThrow(
      "migration 02-broken.sql failed",
    );
    expect(await notes()).toBe(0);
    await migrateClickHouse([client], { known: [things] });
    expect(await clickhouse.rows("SELECT n FROM things")).toEqual([]);
    expect(await notes()).toBe(1);
  });

  test("that were cut short between two statements run again, and are recorded when all are through", async () => {
    const { client } = clickhouse;
    await expect(migrateClickHouse([client], { known: [things, fill(0)] })).rejects.toThrow(
      "migration 02-fill.sql failed",
    );
    expect(await notes()).toBe(1);
    await migrateClickHouse([client], { known: [things, fill(2)] });
    await migrateClickHouse([client], { known: [things, fill(2)] });
    expect(await clickhouse.rows("SELECT n, half FROM things")).toEqual([{ n: 4, half: 4 }]);
    expect(await notes()).toBe(2);
  });

  test("from a newer program, or with another text, are refused before anything runs", async () => {
    const { client } = clickhouse;
    await expect(migrateClickHouse([client], { known: [things] })).rejects.toThrow(
      "the database is newer than this program: it has the unknown migration 02-fill.sql",
    );
    await expect(migrateClickHouse([client], { known: [things, fill(4)] })).rejects.toThrow(
      "migration 02-fill.sql was applied with content that differs from this program's",
    );
  });
});
