import { sqlName } from "../../queries/sql-literals.js";
import type { Migrating } from "../run-statement.js";

/**
 * Views forget a table that is redefined; attached anew they find it by its name. A view whose query is altered would
 * have other tokens, and count an insert that is repeated once more. The table `noted` has their names meanwhile.
 */
export async function attachViews({ clickhouse, run }: Migrating, noted: string): Promise<void> {
  await run(`INSERT INTO ${noted} (name)
    SELECT name FROM system.tables
    WHERE database = currentDatabase() AND engine = 'MaterializedView' AND name NOT IN (SELECT name FROM ${noted})`);
  const answer = await clickhouse.query({
    query: `SELECT DISTINCT name FROM ${noted} ORDER BY name`,
    format: "JSONEachRow",
  });
  for (const { name } of await answer.json<{ name: string }>()) {
    await run(`DETACH TABLE IF EXISTS ${sqlName(name)} SYNC`);
    await run(`ATTACH TABLE IF NOT EXISTS ${sqlName(name)}`);
  }
}
