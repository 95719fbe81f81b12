import { readRows } from "../common/read-rows.js";

export interface TableSize {
  table: string;
  rows: number;
  bytes: number;
}

/** The tables of the program on disk, the largest first. */
export async function readTableSizes(clickhouseUrl: string): Promise<TableSize[]> {
  const sizes = await readRows<Record<keyof TableSize, string>>(clickhouseUrl, TABLE_SIZES);
  return sizes.map(({ table, rows, bytes }) => ({ table, rows: Number(rows), bytes: Number(bytes) }));
}

const TABLE_SIZES = `
  SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
  FROM system.parts WHERE active AND database = currentDatabase()
  GROUP BY table ORDER BY bytes DESC`;
