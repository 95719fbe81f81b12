import { readdir, readFile } from "node:fs/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import { assetUrl } from "../../schemas/asset.js";

/**
 * Brings ClickHouse to this program's tables: every file of `aggregate/clickhouse` in the order of its number.
 * Each statement can run again on a database that has it already, so several processes may start at once.
 */
export async function migrateClickHouse(clickhouse: ClickHouseClient): Promise<void> {
  for (const statement of await readStatements()) await clickhouse.command({ query: statement });
}

/** The database lives outside the connection's own: it has to exist before the first statement names a table. */
export async function createDatabase(server: ClickHouseClient, database: string): Promise<void> {
  await server.command({
    query: "CREATE DATABASE IF NOT EXISTS {database:Identifier} ENGINE = Atomic",
    query_params: { database },
  });
}

async function readStatements(): Promise<string[]> {
  const folder = assetUrl("aggregate/clickhouse/");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
  return texts.flatMap((text) => text.split(/;\s*$/m).filter((statement) => statement.trim() !== ""));
}
