import type { ClickHouse } from "../../../schemas/shards.js";
import { hasRow } from "../../queries/has-row.js";
import { quotedName, quotedText, sqlName } from "../../queries/sql-literals.js";
import { createDatabase } from "../migrate-clickhouse.js";

export interface WholeTables {
  /** The cluster, as the servers know it. */
  cluster: string;
  /** Has the tables of each server. */
  database: string;
  wholeDatabase: string;
}

/**
 * Tables of the same names with the rows of all shards. They have no key by which rows would lie on shards:
 * with a wrong one ClickHouse leaves shards out without an error. Changes only tables whose columns differ.
 */
export async function makeWholeTables(
  server: ClickHouse,
  { cluster, database, wholeDatabase }: WholeTables,
): Promise<void> {
  await createDatabase(server, wholeDatabase);
  const answer = await server.query({
    query: STALE_TABLES,
    query_params: { cluster, database, wholeDatabase },
    format: "JSONEachRow",
  });
  // The statement takes no parameters.
  const [own, whole] = [database, wholeDatabase].map(quotedName);
  const engine = `Distributed(${quotedText(cluster)}, ${quotedText(database)}`;
  for (const { name, gone } of await answer.json<{ name: string; gone: 0 | 1 }>()) {
    const table = `${whole}.${sqlName(name)}`;
    const query = gone
      ? `DROP TABLE IF EXISTS ${table} SYNC`
      : `CREATE OR REPLACE TABLE ${table} AS ${own}.${sqlName(name)} ENGINE = ${engine}, '${sqlName(name)}')`;
    await server.command({ query });
  }
}

export function hasWholeTables(
  server: ClickHouse,
  { wholeDatabase }: Pick<WholeTables, "wholeDatabase">,
): Promise<boolean> {
  return hasRow(server, {
    query: "SELECT 1 FROM system.tables WHERE database = {wholeDatabase:String} LIMIT 1",
    params: { wholeDatabase },
  });
}

/** Which tables have no table over all shards, or one with other columns; and which of those have no table any more? */
const STALE_TABLES = `
  SELECT name, countIf(database = {database:String}) = 0 AS gone
  FROM
  (
    SELECT tables.database AS database, tables.name AS name,
      if(database = {database:String}, concat('Distributed(\\'', {cluster:String}, '\\', \\'', {database:String}, '\\', \\'', name, '\\')'), engine_full) AS engine,
      columns.signature AS signature
    FROM system.tables AS tables
    INNER JOIN
    (
      SELECT database, table, cityHash64(groupArray((name, type, default_kind, default_expression))) AS signature
      FROM (SELECT * FROM system.columns WHERE database IN ({database:String}, {wholeDatabase:String}) ORDER BY table, position)
      GROUP BY database, table
    ) AS columns ON columns.database = tables.database AND columns.table = tables.name
    WHERE tables.database = {wholeDatabase:String}
      OR tables.database = {database:String} AND tables.engine LIKE '%MergeTree' AND tables.name != 'migrations'
  )
  GROUP BY name
  HAVING count() = 1 OR uniqExact((engine, signature)) > 1
  ORDER BY name`;
