import { expect, test } from "vitest";
import { readMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import { fillClauses, TABLE_CLAUSES } from "../../../../aggregate/clickhouse/table-clauses.js";
import { BREAKDOWN_LIST } from "../../../../schemas/contracts/breakdowns.js";

test("each migration has a number of its own and begins with the question that its tables answer", async () => {
  const migrations = await readMigrations();
  const numbers = migrations.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers.length).toBeGreaterThan(8);
  for (const { text } of migrations) expect(text).toMatch(/^-- [^\n]*\?/);
});

test("leave nothing open, spell no engine and repeat no name of the list", async () => {
  for (const { name, text } of await readMigrations()) {
    const statements = text.replaceAll(/--.*$/gm, "");
    expect(fillClauses(statements, TABLE_CLAUSES), name).not.toMatch(/[{}]/);
    expect(statements, name).not.toMatch(
      /MergeTree|IF NOT EXISTS \w+\s*\(|CREATE (TABLE|MATERIALIZED)|_window/,
    );
    expect(statements, name).not.toMatch(/INSERT INTO \w+\s*(SELECT|VALUES)/);
  }
});

test("are other migrations once the list has other columns of a table that they made", async () => {
  const list = BREAKDOWN_LIST.map((each) =>
    each.name === "country" ? { ...each, values: [{ column: "state", field: "country" }] as const } : each,
  );
  const sums = async (of?: typeof list) => (await readMigrations(of)).map(({ checksum }) => checksum);
  const [before, after] = [await sums(), await sums(list)];
  expect(after.filter((checksum, index) => checksum !== before[index])).toHaveLength(1);
});

test("clauses stand in place of their names, and what is no clause stays", () => {
  const clauses = { sum: (column: string) => `Sum(${column})`, plain: () => "Plain" };
  expect(fillClauses("a {sum(b)} {plain} {start:Date} {other}", clauses)).toBe(
    "a Sum(b) Plain {start:Date} {other}",
  );
});
