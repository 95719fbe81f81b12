import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

export interface TableSize {
  table: string;
  rows: number;
  bytes: number;
}

/** The tables of the program on disk, the largest first. */
export async function readTableSizes(clickhouseUrl: string): Promise<TableSize[]> {
  await using clickhouse = connectClickHouse(clickhouseUrl);
  const answer = await clickhouse.query({ query: TABLE_SIZES, format: "JSONEachRow" });
  const sizes = await answer.json<Record<keyof TableSize, string | number>>();
  return sizes.map(({ table, rows, bytes }) => ({
    table: String(table),
    rows: Number(rows),
    bytes: Number(bytes),
  }));
}

const TABLE_SIZES = `
  SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
  FROM system.parts WHERE active AND database = currentDatabase()
  GROUP BY table ORDER BY bytes DESC`;
