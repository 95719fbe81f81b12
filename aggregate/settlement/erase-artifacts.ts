import type { ClickHouseClient } from "@clickhouse/client";
import { readQuery } from "../read-query.js";

/**
 * Has every row of these packages and pixels (UUIDs) erased from every table, and answers whether there was any left:
 * ClickHouse rewrites its parts in its own time, so ask again until there is none. Nothing may write or settle them
 * meanwhile. What other artifacts have is not touched.
 */
export async function eraseArtifacts(
  clickhouse: ClickHouseClient,
  artifacts: readonly string[],
): Promise<boolean> {
  let found = false;
  for (const place of await artifactTables(clickhouse)) {
    if (!(await hasRows(clickhouse, { ...place, artifacts }))) continue;
    found = true;
    await clickhouse.command({
      query: "ALTER TABLE {table:Identifier} DELETE WHERE {column:Identifier} IN {artifacts:Array(UUID)}",
      query_params: { ...place, artifacts },
      clickhouse_settings: { mutations_sync: "0" },
    });
  }
  return found;
}

interface Place {
  table: string;
  /** Where it names the artifact. */
  column: string;
}

async function artifactTables(clickhouse: ClickHouseClient): Promise<Place[]> {
  const answer = await clickhouse.query({
    query: await readQuery("settlement/artifact-tables"),
    format: "JSONEachRow",
  });
  return answer.json<Place>();
}

async function hasRows(
  clickhouse: ClickHouseClient,
  { table, column, artifacts }: Place & { artifacts: readonly string[] },
): Promise<boolean> {
  const answer = await clickhouse.query({
    query: "SELECT 1 FROM {table:Identifier} WHERE {column:Identifier} IN {artifacts:Array(UUID)} LIMIT 1",
    query_params: { table, column, artifacts },
    format: "JSONEachRow",
  });
  return (await answer.json()).length > 0;
}
