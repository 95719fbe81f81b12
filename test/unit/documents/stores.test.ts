import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readMigrations as clickhouse } from "../../../aggregate/clickhouse/read-migrations.js";
import { readMigrations as postgres } from "../../../api/postgres/migrate-postgres.js";

/** The first columns of the tables below a heading. */
function namesBelow(heading: string): string[] {
  const [, section = ""] = readFileSync("deploy/docs/retention.md", "utf8").split(`## ${heading}\n`);
  const cells = section.split("\n").map((line) => /^\| ([^|]*) \|/.exec(line)?.[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
}

const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);

/** The tables that all migrations together leave. */
async function tables(): Promise<string[]> {
  const sql = (await clickhouse()).map(({ text }) => text).join("\n");
  const gone = new Set(namesIn(sql, /^DROP TABLE IF EXISTS (\w+)/gm));
  const here = namesIn(sql, /^CREATE \{new_table\((\w+)\)\}/gm).filter((name) => !gone.has(name));
  const text = (await postgres()).map((migration) => migration.text).join("\n");
  const renamed = new Map(
    [...text.matchAll(/^alter table (\w+) rename to (\w+)/gm)].map(([, from = "", to = ""]) => [from, to]),
  );
  const theirs = namesIn(text, /^create table (\w+)/gm).map((name) => renamed.get(name) ?? name);
  return [...here, ...theirs];
}

test("every table of the migrations is in the list of what is stored and what cleans it up", async () => {
  const named = namesBelow("Every store, and what cleans it up");
  const made = await tables();
  expect(made.length).toBeGreaterThan(50);
  expect(made.filter((name) => !named.includes(name))).toEqual([]);
  expect(named.filter((name) => !made.includes(name) && name !== "migrations")).toEqual([]);
});
