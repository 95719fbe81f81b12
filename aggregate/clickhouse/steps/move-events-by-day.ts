import type { ClickHouse } from "../../../schemas/shards.js";
import { storedColumns } from "../../queries/stored-columns.js";
import { readQuery } from "../../read-query.js";
import type { MigrationStep, Migrating } from "../run-statement.js";
import { attachViews } from "./attach-views.js";
import { findTable, redefineTable } from "./redefine-table.js";

/**
 * Moves the rows of `events`, and those of `superseded_events` that it no longer has, into the order of `events_by_day`,
 * and gives `events` and `event_ids` the definitions of `events_by_day` and `event_ids_by_version`. The tables of the
 * views are not touched. While it works there is no table `events`: nothing can be written to it or read from it half-way.
 *
 * Months leave `events_before` by MOVE PARTITION: after DROP PARTITION ClickHouse would store an insert again whose token
 * it had, and its views would not.
 */
export const moveEventsByDay: MigrationStep = async (migrating) => {
  const { clickhouse, run } = migrating;
  const events = await findTable(clickhouse, { name: "events" });
  if (events !== undefined && !events.engine.startsWith(SUMMING)) return;
  if (events !== undefined) await run("RENAME TABLE events TO events_before");
  await copyMonths(migrating);
  await redefineTable(migrating, { table: "events_before", like: "events_by_day" });
  for (const month of await monthsOf(migrating, "events_by_day"))
    await run(`ALTER TABLE events_before REPLACE PARTITION ${month} FROM events_by_day`);
  await keepVersionsInIndex(migrating);
  await attachViews(migrating, "events_by_day_views");
  await run("RENAME TABLE events_before TO events");
};

const SUMMING = "SummingMergeTree";

/** Month by month, so that at most one of them is on the disk twice. */
async function copyMonths(migrating: Migrating): Promise<void> {
  const { clickhouse, run } = migrating;
  const before = await findTable(clickhouse, { name: "events_before" });
  // From here on the table keeps its rows under this name, and only its definition changes.
  if (before === undefined || !before.engine.startsWith(SUMMING)) return;
  await run("CREATE {new_table(events_copied)} AS events_before");
  for (const month of await numbersOf(migrating, MONTHS_TO_COPY)) {
    await run(`ALTER TABLE events_by_day DROP PARTITION ${month}`);
    await run(await copyMonth(clickhouse, month));
    await run(`INSERT INTO events_by_day_months (month) SELECT ${month}`);
    await run(`ALTER TABLE events_before MOVE PARTITION ${month} TO TABLE events_copied`);
    await run(`ALTER TABLE events_copied DROP PARTITION ${month}`);
  }
  // Left by a run that was cut short between the statements above.
  for (const month of await monthsOf(migrating, "events_before"))
    await run(`ALTER TABLE events_before MOVE PARTITION ${month} TO TABLE events_copied`);
  await run("DROP TABLE IF EXISTS events_copied SYNC");
}

const MONTHS_TO_COPY = `
  SELECT DISTINCT toYYYYMM(date) AS month
  FROM (SELECT date FROM events_before UNION ALL SELECT date FROM superseded_events)
  WHERE month NOT IN (SELECT month FROM events_by_day_months)
  ORDER BY month`;

async function copyMonth(clickhouse: ClickHouse, month: string): Promise<string> {
  const columns = await storedColumns(clickhouse, "events_by_day");
  const text = await readQuery("clickhouse/steps/copy-month");
  return text.replaceAll("{columns}", columns.join(", ")).replaceAll("{month}", month);
}

async function keepVersionsInIndex(migrating: Migrating): Promise<void> {
  const { clickhouse, run } = migrating;
  if ((await findTable(clickhouse, { name: "event_ids" })) !== undefined)
    await run("ALTER TABLE event_ids ADD COLUMN IF NOT EXISTS rows Int32 DEFAULT 1");
  await redefineTable(migrating, { table: "event_ids", like: "event_ids_by_version" });
  // A second run counts rows of versions once more, which changes nothing: they only have to be more than none.
  await run(`INSERT INTO event_ids (artifact, event_id, version, import_id, date, live, rows)
    SELECT artifact, event_id, version, import_id, date, 0, 1 FROM superseded_events`);
}

function monthsOf(migrating: Migrating, table: "events_before" | "events_by_day"): Promise<string[]> {
  return numbersOf(migrating, `SELECT DISTINCT toYYYYMM(date) AS month FROM ${table} ORDER BY month`);
}

async function numbersOf({ clickhouse }: Migrating, query: string): Promise<string[]> {
  const answer = await clickhouse.query({ query, format: "JSONEachRow" });
  return (await answer.json<{ month: number }>()).map(({ month }) => String(month));
}
