import { describe, expect, test } from "vitest";
import { replicaStatement } from "../../../../aggregate/clickhouse/cluster/make-replica.js";
import { migrateClickHouse, spellStatement } from "../../../../aggregate/clickhouse/migrate-clickhouse.js";
import { dailyTables, readMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import type { ClickHouse } from "../../../../schemas/shards.js";
import { BREAKDOWN_LIST } from "../../../../schemas/contracts/breakdowns.js";
import { eventIdSql } from "../../../../schemas/records/event-id.js";

test("each migration has a name of its own, and each file begins with the question that its table answers", async () => {
  const migrations = await readMigrations();
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
  expect(migrations.length).toBeGreaterThan(15);
  for (const { name, text } of migrations) if (name.endsWith(".sql")) expect(text).toMatch(/^-- [^\n]*\?/);
});

test("leave nothing open, and make a table with the same statement again or not at all", async () => {
  for (const { name, text } of await readMigrations()) {
    expect(spellStatement(text, { replicated: false }).replaceAll(/--.*$/gm, ""), name).not.toMatch(/[{}]/);
    expect(text, name).not.toMatch(/CREATE (TABLE|MATERIALIZED VIEW) (?!IF NOT EXISTS)/);
    expect(text, name).not.toMatch(/INSERT INTO \w+\s*(SELECT|VALUES)/);
  }
});

test.each([
  [
    "notes a migration once its table is on the disk",
    1_000,
    ["CREATE TABLE things", "SYSTEM SYNC FILE", "INSERT INTO migrations"],
  ],
  ["notes none that a power cut may have taken", 90_000, ["CREATE TABLE things", "SYSTEM SYNC FILE"]],
])("a start %s", async (_, afterwards, done) => {
  const steps: string[] = [];
  const server = {
    command: async ({ query }: { query: string }) =>
      void steps.push(query.trim().split(" ").slice(0, 3).join(" ")),
    query: async ({ query }: { query: string }) => ({
      json: async () =>
        query.includes("uptime()")
          ? [{ started: steps.includes("CREATE TABLE things") ? afterwards : 1_000 }]
          : [],
    }),
  } as unknown as ClickHouse;
  const known = [{ name: "things", text: "CREATE TABLE things", checksum: "c" }];
  await migrateClickHouse([server], { known }).catch((error: Error) =>
    expect(error.message).toMatch("restarted"),
  );
  expect(steps.filter((step) => step !== "CREATE TABLE IF")).toEqual(done);
});

test("the last view of the breakdowns counts every one of the list", async () => {
  const tables = await dailyTables();
  expect(new Set(tables.map(({ table }) => table)).size).toBe(tables.length);
  const { select = "" } = tables.find(({ table }) => table === "breakdown_values") ?? {};
  for (const each of BREAKDOWN_LIST) if ("values" in each) expect(select).toContain(`'${each.name}'`);
});

test("the table of events gives an event the id that the rest of the program computes", async () => {
  const [events] = await readMigrations();
  expect(events?.text).toContain(`DEFAULT ${eventIdSql("artifact", "unique_key")},`);
});

describe("a table", () => {
  const table = "CREATE TABLE IF NOT EXISTS totals (total Int64)\nENGINE = SummingMergeTree(total)";
  const settings = "SETTINGS {deduplication(100)}, a = 1";

  test("remembers inserts for two weeks: no insert is repeated later", () => {
    expect(spellStatement(`${table}\n${settings}`, { replicated: false })).toBe(
      `${table}\nSETTINGS non_replicated_deduplication_window = 100, remove_empty_parts = 0, ` +
        "replicated_deduplication_window = 100, replicated_deduplication_window_seconds = 1209600, a = 1",
    );
  });

  test.each([
    ["with settings", `${table}\nSETTINGS a = 1`, ", a = 1"],
    ["without", table, ""],
  ])("%s is replicated by its name, and writes a part down before Keeper knows of it", (_, text, rest) => {
    expect(spellStatement(text, { replicated: true })).toBe(
      `${table.replace("Summing", "ReplicatedSumming")}\nSETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ` +
        `min_compressed_bytes_to_fsync_after_fetch = 1, min_compressed_bytes_to_fsync_after_merge = 1${rest}`,
    );
  });
});

test.each([
  [
    "table, with its engine and its partitions",
    "CREATE TABLE maintainer.events (`date` Date) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/maintainer/events', '{replica}') PARTITION BY toYYYYMM(date)",
    "CREATE TABLE IF NOT EXISTS events (`date` Date) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/maintainer/events', '{replica}') PARTITION BY toYYYYMM(date)",
  ],
  [
    "view, over the tables of the same names",
    "CREATE MATERIALIZED VIEW maintainer.totals_view TO maintainer.totals (`total` Int64) AS SELECT sum(sign) AS total FROM maintainer.events",
    "CREATE MATERIALIZED VIEW IF NOT EXISTS totals_view TO totals (`total` Int64) AS SELECT sum(sign) AS total FROM events",
  ],
])("a new replica gets a peer's %s", (_, created, expected) => {
  expect(replicaStatement(created, "maintainer")).toBe(expected);
});
