import type { ClickHouse } from "../../schemas/shards.js";
import { readQuery } from "../read-query.js";
import { sqlName } from "./sql-literals.js";

/** The names of the columns that a table stores, for an INSERT ... SELECT that names each. */
export async function storedColumns(clickhouse: ClickHouse, table: string): Promise<string[]> {
  const answer = await clickhouse.query({
    query: await readQuery("queries/stored-columns"),
    query_params: { table },
    format: "JSONEachRow",
  });
  return (await answer.json<{ name: string }>()).map(({ name }) => sqlName(name));
}
