import { readRows } from "../common/read-rows.js";

/** The active parts of the program's tables now. */
export interface ActiveParts {
  events: number;
  allTables: number;
}

export async function countParts(clickhouseUrl: string): Promise<ActiveParts> {
  const [row] = await readRows<Record<keyof ActiveParts, string>>(clickhouseUrl, COUNT_PARTS);
  return { events: Number(row?.events), allTables: Number(row?.allTables) };
}

const COUNT_PARTS = `
  SELECT countIf(table = 'events') AS events, count() AS allTables
  FROM system.parts WHERE active AND database = currentDatabase()`;
