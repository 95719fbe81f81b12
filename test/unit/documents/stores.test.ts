import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readMigrations as clickhouse } from "../../../aggregate/clickhouse/read-migrations.js";
import { readMigrations as postgres } from "../../../api/base/postgres/migrate-postgres.js";

/** The first columns of the tables below a heading. */
function namesBelow(heading: string): string[] {
  const [, section = ""] = readFileSync("deploy/docs/reference/stored-data.md", "utf8").split(
    `## ${heading}\n`,
  );
  const cells = section.split("\n").map((line) => /^\| ([^|]*) \|/.exec(line)?.[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
}

const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);

async function tables(): Promise<string[]> {
  const sql = [...(await clickhouse()), ...(await postgres())].map(({ text }) => text).join("\n");
  return namesIn(sql, /^create table (?:if not exists )?(\w+)/gim);
}

test("every table of the migrations is in the list of what is stored and what cleans it up", async () => {
  const named = namesBelow("Tables");
  const made = await tables();
  expect(made.length).toBeGreaterThan(40);
  expect(made.filter((name) => !named.includes(name))).toEqual([]);
  expect(named.filter((name) => !made.includes(name) && name !== "migrations")).toEqual([]);
});
