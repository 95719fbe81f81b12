import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { breakdownStatements } from "../../../../aggregate/clickhouse/breakdowns/breakdown-statements.js";
import { migrateClickHouse } from "../../../../aggregate/clickhouse/migrate-clickhouse.js";
import { readMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import { composeAggregates } from "../../../../aggregate/queries/compose-aggregates.js";
import { FORMAT_SETTINGS } from "../../../../aggregate/queries/format-rows.js";
import { openRows } from "../../../../aggregate/queries/open-rows.js";
import { applyBatch } from "../../../../aggregate/settlement/settle.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { prepareClickHouse } from "../../../../deploy/stores/clickhouse/prepare-clickhouse.js";
import { BREAKDOWN_LIST, type ValueBreakdown } from "../../../../schemas/contracts/breakdowns.js";
import { migrationOf } from "../../../../schemas/migrations.js";
import { textOf } from "../../../support/api/open-answer.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";
import {
  answersBefore,
  chunkOf,
  IMPORTS,
  PACKAGES,
  prepareReleaseBefore,
  readExports,
  settleAll,
  writeHistory,
} from "../../../support/stores/release-before-migrations.js";
import { insertChunk } from "../../../support/stores/settlement-world.js";

const OF_OLD_DAYS = "PARTITION BY if(toYear(date) < 2025, intDiv(toYear(date), 10), toYYYYMM(date))";

describe("an installation of the release that recorded no migrations", () => {
  let clickhouse: TestClickHouse;

  beforeAll(async () => {
    clickhouse = await openTestClickHouse(prepareReleaseBefore);
    await writeHistory(clickhouse);
    await prepareClickHouse(clickhouse.url, { lock: "alone" });
  });

  afterAll(() => clickhouse?.[Symbol.asyncDispose]());

  test("answers its exports byte for byte as before", async () => {
    expect(await readExports(clickhouse)).toEqual(await answersBefore());
  });

  test("records every migration, and a second start applies none", async () => {
    const applied = () => clickhouse.rows("SELECT number, name, checksum FROM migrations ORDER BY number");
    const known = (await readMigrations()).map(({ number, name, checksum }) => ({ number, name, checksum }));
    expect(await applied()).toEqual(known);
    await prepareClickHouse(clickhouse.url, { lock: "alone" });
    expect(await applied()).toEqual(known);
  });

  test("has the tables and views of a new one, except that old days of its events stay in months", async () => {
    const fresh = new URL(clickhouse.url);
    fresh.searchParams.set("database", "fresh");
    await prepareClickHouse(fresh.href, { lock: "alone" });
    // They are in the order in which a table got them.
    const sortSettings = (table: string) =>
      table.replaceAll(/(?<=SETTINGS )[^"\\]+/g, (settings) => settings.split(", ").sort().join(", "));
    const tablesOf = async (database: string) => {
      const tables = await clickhouse.rows(`
        SELECT name, engine_full, as_select, create_table_query FROM system.tables
        WHERE database = '${database}' ORDER BY name`);
      return tables.map((table) => sortSettings(JSON.stringify(table).replaceAll(`${database}.`, "")));
    };
    const [made, migrated] = [await tablesOf("fresh"), await tablesOf("maintainer")];
    expect(made.length).toBeGreaterThan(25);
    const inMonths = made.map((table) => table.replaceAll(OF_OLD_DAYS, "PARTITION BY toYYYYMM(date)"));
    expect(inMonths).not.toEqual(made);
    expect(migrated).toEqual(inMonths);
  });

  test("still drops an insert and a settlement that it has", async () => {
    for (const view of ["events", "totals", "event_ids"])
      await clickhouse.client.command({ query: `OPTIMIZE TABLE ${view} FINAL` });
    await insertChunk(clickhouse, chunkOf(IMPORTS.first, { order: 0, every: 1 }), "first");
    await insertChunk(clickhouse, chunkOf(IMPORTS.second, { order: 1, every: 2 }), "second");
    const batches = await clickhouse.rows<{ batch: string }>("SELECT DISTINCT batch FROM settlement_deltas");
    expect(batches.length).toBeGreaterThan(2);
    for (const { batch } of batches) await applyBatch(clickhouse.shards, batch);
    expect(await readExports(clickhouse)).toEqual(await answersBefore());
    for (const importId of [IMPORTS.first, IMPORTS.second])
      expect(await settleAll(clickhouse, importId)).toBe(0);
  });

  test("settles an override, and restores what it overrode, after columns changed their places", async () => {
    await clickhouse.client.command({ query: "ALTER TABLE events ADD COLUMN added UInt32 FIRST" });
    const again = IMPORTS.first.replace("0011", "0014");
    await insertChunk(clickhouse, chunkOf(again, { order: 3, every: 1 }), "again");
    expect(await settleAll(clickhouse, again)).toBe(30);
    expect(await readExports(clickhouse)).not.toEqual(await answersBefore());
    await clickhouse.client.command({ query: `INSERT INTO retracted_imports (import_id) SELECT '${again}'` });
    expect(await settleAll(clickhouse, again, { retracted: true })).toBe(60);
    expect(await readExports(clickhouse)).toEqual(await answersBefore());
  });

  test("counts a ninth breakdown from its first event on, once it is in the list and a migration makes it", async () => {
    const agent: ValueBreakdown = {
      name: "agent",
      table: "agents",
      question: "Which agents?",
      values: [{ column: "user_agent", field: "agent" }],
    };
    const nine = [...BREAKDOWN_LIST, agent];
    const ninth = migrationOf("900-agents.sql", breakdownStatements(agent));
    const { client } = clickhouse;
    await migrateClickHouse(client, { known: [...(await readMigrations()), ninth] });
    const counted = async (breakdown: string, format: "ndjson" | "csv") =>
      textOf(
        await openRows(client, {
          query: composeAggregates({ packages: PACKAGES, breakdowns: [breakdown], format }, nine),
          params: { start: "2025-01-01", end: "2026-01-01" },
          settings: FORMAT_SETTINGS,
          signal: new AbortController().signal,
        }),
      );
    // The lookups of this world call a client what its user agent is.
    const clients = async () =>
      (await counted("client", "ndjson"))
        .replaceAll(/"client":"(\w+)",.*/g, '"agent":"$1"}')
        .replaceAll('"client"', '"agent"');
    expect(await clients()).toContain('"agent":"agent1"}');
    expect(await counted("agent", "ndjson")).toBe(await clients());
    await client.command({ query: "TRUNCATE TABLE migrations" });
    await migrateClickHouse(client, { known: [...(await readMigrations()), ninth] });
    await insertChunk(
      clickhouse,
      chunkOf(IMPORTS.first.replace("0011", "0015"), { order: 5, every: 1 }),
      "ninth",
    );
    expect(await counted("agent", "ndjson")).toBe(await clients());
    const [header, first] = (await counted("agent", "csv")).split("\n");
    expect(header).toMatch(/^"breakdown","date",.*,"unique_total","package_name","agent"$/);
    expect(first).toMatch(/^"agent",.*,"web","agent\d"$/);
    await expect(prepareClickHouse(clickhouse.url, { lock: "alone" })).rejects.toThrow(
      "900-agents.sql, unknown here",
    );
  });
});

describe("an installation whose migration is cut short again and again", () => {
  let clickhouse: TestClickHouse;

  beforeAll(async () => {
    clickhouse = await openTestClickHouse(prepareReleaseBefore);
    await writeHistory(clickhouse);
    await clickhouse.client.command({ query: "OPTIMIZE TABLE events FINAL" });
    await insertChunk(clickhouse, chunkOf(CUT, { order: 4, every: 1 }), "cut");
  });

  afterAll(() => clickhouse?.[Symbol.asyncDispose]());

  const CUT = IMPORTS.first.replace("0011", "0016");

  /** Migrates until the lock was checked `statements` times: it is checked before each statement. */
  async function migrateFor(statements: number): Promise<boolean> {
    let left = statements;
    const checkLock = async () => {
      if (left-- === 0) throw new Error("cut short");
    };
    try {
      await migrateClickHouse(clickhouse.client, { checkLock });
      return true;
    } catch (error) {
      expect((error as Error & { cause: Error }).cause.message).toBe("cut short");
      return false;
    }
  }

  test("goes on where it was, and then has what it had, with the tokens and the versions that were overridden", async () => {
    let cuts = 1;
    while (!(await migrateFor(cuts))) cuts++;
    expect(cuts).toBeGreaterThan(20);
    const tables = await clickhouse.rows<{ name: string }>("SHOW TABLES");
    expect(tables.filter(({ name }) => /^events_|by_version|superseded/.test(name))).toEqual([]);
    await insertChunk(clickhouse, chunkOf(CUT, { order: 4, every: 1 }), "cut");
    expect(await settleAll(clickhouse, CUT)).toBe(30);
    expect(await readExports(clickhouse)).not.toEqual(await answersBefore());
    await clickhouse.client.command({ query: `INSERT INTO retracted_imports (import_id) SELECT '${CUT}'` });
    expect(await settleAll(clickhouse, CUT, { retracted: true })).toBe(60);
    expect(await readExports(clickhouse)).toEqual(await answersBefore());
  });
});

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
    "001-things.sql",
    "-- Which things?\nCREATE {new_table(things)} (n UInt32) ENGINE = {plain} ORDER BY n;\n",
  );
  const fill = (divisor: number) =>
    migrationOf(
      "002-fill.sql",
      `ALTER {table(things)} ADD COLUMN IF NOT EXISTS half UInt32;
       ALTER {table(things)} ADD COLUMN IF NOT EXISTS third UInt32;
       INSERT INTO things (n, half) SELECT 4, intDiv(8, ${divisor}) WHERE (SELECT count() FROM things) = 0;`,
    );

  test("that was cut short between two statements runs again, and is recorded when all are through", async () => {
    const { client } = clickhouse;
    const rows = (query: string) => clickhouse.rows(query);
    await expect(migrateClickHouse(client, { known: [things, fill(0)] })).rejects.toThrow(
      "migration 002-fill.sql failed",
    );
    expect(await rows("SELECT name FROM migrations")).toEqual([{ name: "001-things.sql" }]);
    await migrateClickHouse(client, { known: [things, fill(2)] });
    await migrateClickHouse(client, { known: [things, fill(2)] });
    expect(await rows("SELECT n, half FROM things")).toEqual([{ n: 4, half: 4 }]);
    expect(await rows("SELECT number FROM migrations ORDER BY number")).toEqual([
      { number: 1 },
      { number: 2 },
    ]);
  });

  test("from a newer program, or with another text, are refused before anything runs", async () => {
    const { client } = clickhouse;
    await expect(migrateClickHouse(client, { known: [things] })).rejects.toThrow(
      "the database is newer than this program: it has migration 002-fill.sql, unknown here",
    );
    await expect(migrateClickHouse(client, { known: [things, fill(4)] })).rejects.toThrow(
      "migration 002-fill.sql was applied with another text than this program's",
    );
  });
});
