import type { ClickHouse } from "../../../schemas/shards.js";
import type { MigrationStep } from "../run-statement.js";
import { attachViews } from "./attach-views.js";
import { findTable, redefineTable } from "./redefine-table.js";

/**
 * Gives `events` partitions of a decade for days before 2025. Only while it is empty: ClickHouse has no other way to change
 * partitions than to write every row anew, and a repeated insert would not be known in another partition. Replicated tables
 * cannot be redefined and stay as they are too; new replicas are copies of tables that this step has seen without rows.
 */
export const groupOldDays: MigrationStep = async ({ clickhouse, run }) => {
  const events = await findTable(clickhouse, { name: "events" });
  if (events !== undefined) {
    if (events.engine.startsWith("Replicated") || (await hasRows(clickhouse))) return;
    await run(`CREATE {new_table(events_by_age)} AS events ENGINE = {plain} ${ORDERED}`);
  }
  await run("CREATE {new_table(events_by_age_views)} (name String) ENGINE = {plain} ORDER BY name");
  await redefineTable({ clickhouse, run }, { table: "events", like: "events_by_age" });
  await attachViews({ clickhouse, run }, "events_by_age_views");
};

const ORDERED = `
  PARTITION BY if(toYear(date) < 2025, intDiv(toYear(date), 10), toYYYYMM(date))
  ORDER BY (artifact, date)
  SETTINGS {deduplication(100000)}, merge_selector_base = 10`;

async function hasRows(clickhouse: ClickHouse): Promise<boolean> {
  const answer = await clickhouse.query({ query: "SELECT 1 FROM events LIMIT 1", format: "JSONEachRow" });
  return (await answer.json()).length > 0;
}
