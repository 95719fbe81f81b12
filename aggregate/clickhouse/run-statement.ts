import type { ClickHouseSettings } from "@clickhouse/client";
import type { ClickHouse } from "../../schemas/shards.js";
import { fillClauses, TABLE_CLAUSES, type Clauses } from "./table-clauses.js";

/** Runs a statement of a migration. Throws before it once another process may migrate. */
export type Run = (statement: string) => Promise<void>;

export interface Migrating {
  clickhouse: ClickHouse;
  run: Run;
}

/**
 * The work that no list of statements can do, because it depends on the data. A step that was cut short anywhere is
 * called again and goes on; one that is through changes nothing.
 */
export type MigrationStep = (migrating: Migrating) => Promise<void>;

/** Runs a statement in which clauses may stand as names, and waits for its end. */
export async function runStatement(
  clickhouse: ClickHouse,
  statement: string,
  clauses: Clauses = TABLE_CLAUSES,
): Promise<void> {
  await clickhouse.command({ query: fillClauses(statement, clauses), clickhouse_settings: KEPT_ALIVE });
}

/** Headers come while a long statement runs: a client gives up on a connection that is silent for minutes. */
const KEPT_ALIVE: ClickHouseSettings = {
  wait_end_of_query: 1,
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: "60000",
};
