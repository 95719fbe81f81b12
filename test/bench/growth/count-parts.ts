import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

/** The active parts of the program's tables now. */
export interface ActiveParts {
  events: number;
  allTables: number;
}

export async function countParts(clickhouseUrl: string): Promise<ActiveParts> {
  const clickhouse = connectClickHouse(clickhouseUrl);
  try {
    const answer = await clickhouse.query({ query: COUNT_PARTS, format: "JSONEachRow" });
    const [row] = await answer.json<Record<keyof ActiveParts, string | number>>();
    return { events: Number(row?.events), allTables: Number(row?.allTables) };
  } finally {
    await clickhouse.close();
  }
}

const COUNT_PARTS = `
  SELECT countIf(table = 'events') AS events, count() AS allTables
  FROM system.parts WHERE active AND database = currentDatabase()`;
