import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrateClickHouse } from "../../../../aggregate/clickhouse/migrate-clickhouse.js";
import { breakdownMigration, readMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import { composeAggregates } from "../../../../aggregate/queries/open-aggregates.js";
import { FORMAT_SETTINGS, openRows } from "../../../../aggregate/queries/open-rows.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { prepareClickHouse } from "../../../../deploy/stores/clickhouse/prepare-clickhouse.js";
import { BREAKDOWN_LIST, type ValueBreakdown } from "../../../../schemas/contracts/breakdowns.js";
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

  test("count a ninth breakdown from its first event on, once it is in the list", async () => {
    const agent: ValueBreakdown = {
      name: "agent",
      table: "agents",
      question: "Which agents?",
      values: [{ column: "user_agent", field: "agent" }],
    };
    const { client } = clickhouse;
    const known = [...(await readMigrations()), breakdownMigration(agent)];
    const counted = async (breakdown: string, format: "ndjson" | "csv") => {
      const packages = [{ id: PACKAGE, name: "web" }];
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
    await client.command({ query: "DELETE FROM migrations WHERE name = 'breakdown-agents'" });
    await migrateClickHouse([client], { known });
    await insertChunk(clickhouse, chunkOf(2), "second");
    expect(await counted("agent", "ndjson")).toBe(await clients());
    const [header, first] = (await counted("agent", "csv")).split("\n");
    expect(header).toMatch(/^"breakdown","date",.*,"unique_total","package_name","agent"$/);
    expect(first).toMatch(/^"agent",.*,"web","agent\d"$/);
    await expect(prepareClickHouse(clickhouse.url, { lock: "alone" })).rejects.toThrow(
      "breakdown-agents, unknown here",
    );
  });
});

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
      "the database is newer than this program: it has migration 02-fill.sql, unknown here",
    );
    await expect(migrateClickHouse([client], { known: [things, fill(4)] })).rejects.toThrow(
      "migration 02-fill.sql was applied with another text than this program's",
    );
  });
});
