import { describe, expect, test } from "vitest";
import { breakdownStatements } from "../../../../aggregate/clickhouse/breakdowns/breakdown-statements.js";
import { clickhouseMigration, readMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import { fillClauses, TABLE_CLAUSES } from "../../../../aggregate/clickhouse/table-clauses.js";
import { BREAKDOWN_LIST } from "../../../../schemas/contracts/breakdowns.js";
import { eventIdSql } from "../../../../schemas/records/event-id.js";

test("each migration has a number of its own and begins with the question that its tables answer", async () => {
  const migrations = await readMigrations();
  const numbers = migrations.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers.length).toBeGreaterThan(8);
  for (const { text } of migrations) expect(text).toMatch(/^-- [^\n]*\?/);
});

test("leave nothing open, spell no engine and repeat no name of the list", async () => {
  for (const { name, text } of await readMigrations()) {
    const statements = text.replaceAll(/--.*$/gm, "").replaceAll(/\{step\(\w+\)\}/g, "");
    expect(fillClauses(statements, TABLE_CLAUSES), name).not.toMatch(/[{}]/);
    expect(statements, name).not.toMatch(
      /MergeTree|IF NOT EXISTS \w+\s*\(|CREATE (TABLE|MATERIALIZED)|_window/,
    );
    expect(statements, name).not.toMatch(/INSERT INTO \w+\s*(SELECT|VALUES)/);
  }
});

test("each breakdown of the list has a migration that makes its table and view", async () => {
  const texts = (await readMigrations()).map(({ text }) => text).join("\n");
  for (const { table } of BREAKDOWN_LIST) {
    expect(texts).toContain(`CREATE {new_table(${table})}`);
    expect(texts).toContain(`CREATE {new_view(${table}_view)} TO ${table} AS`);
  }
});

test("the table of events gives an event the id that the rest of the program computes", async () => {
  const [events] = await readMigrations();
  expect(events?.text).toContain(`DEFAULT ${eventIdSql("artifact", "unique_key")},`);
});

test("a new breakdown's migration begins with its question and leaves nothing open", () => {
  for (const breakdown of BREAKDOWN_LIST) {
    if (!("values" in breakdown)) continue;
    const text = breakdownStatements(breakdown);
    expect(text).toMatch(/^-- [^\n]*\?/);
    expect(fillClauses(text, TABLE_CLAUSES)).not.toMatch(/[{}]/);
  }
});

describe("the checksum", () => {
  const sum = (text: string) => clickhouseMigration("001-things.sql", text).checksum;
  const text =
    "-- Which things?\nCREATE {new_table(things)} (n String DEFAULT 'a -- b')\nENGINE = {plain};\n";

  test.each([
    ["another comment", text.replace("Which things?", "Which other things?")],
    ["a comment at the end of a line", text.replace("'a -- b')", "'a -- b') -- the name")],
    ["a comment between slashes", text.replace("ENGINE", "/* plain\n */ ENGINE")],
    ["other white space", text.replaceAll("\n", "\n\n").replaceAll(" (", "\n  (")],
  ])("is the same with %s", (_, changed) => {
    expect(changed).not.toBe(text);
    expect(sum(changed)).toBe(sum(text));
  });

  test.each([
    ["another type", text.replace("String", "UInt32")],
    ["another literal", text.replace("a -- b", "a -- c")],
    ["other white space in a literal", text.replace("a -- b", "a --  b")],
    ["another engine clause", text.replace("plain", "replacing")],
  ])("differs with %s", (_, changed) => expect(sum(changed)).not.toBe(sum(text)));
});

test("clauses stand in place of their names, and what is no clause stays", () => {
  const clauses = { sum: (column: string) => `Sum(${column})`, plain: () => "Plain" };
  expect(fillClauses("a {sum(b)} {plain} {start:Date} {other}", clauses)).toBe(
    "a Sum(b) Plain {start:Date} {other}",
  );
});
