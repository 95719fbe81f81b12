import { readdir, readFile } from "node:fs/promises";
import { assetUrl } from "../../schemas/asset.js";
import { BREAKDOWN_LIST, type BreakdownDeclaration } from "../../schemas/contracts/breakdowns.js";
import { eventIdSql } from "../../schemas/records/event-id.js";
import { MIGRATION_FILE, migrationOf, type Migration } from "../../schemas/migrations.js";
import { breakdownClauses } from "./breakdown-clauses.js";
import { fillClauses } from "./table-clauses.js";

/**
 * The files of this folder, in the order of their numbers. Breakdowns are expanded before the checksum, so changing the
 * list changes it. `TABLE_CLAUSES` are expanded after it.
 */
export async function readMigrations(
  list: readonly BreakdownDeclaration[] = BREAKDOWN_LIST,
): Promise<Migration[]> {
  const folder = assetUrl("aggregate/clickhouse/");
  const names = (await readdir(folder)).filter((name) => MIGRATION_FILE.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
  const clauses = { ...breakdownClauses(list), event_id: () => eventIdSql("artifact", "unique_key") };
  return names.map((name, index) => migrationOf(name, fillClauses(texts[index] ?? "", clauses)));
}
