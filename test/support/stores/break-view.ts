import type { ClickHouseClient } from "@clickhouse/client";
import type { TestClickHouse } from "./open-clickhouse.js";

/** Makes every insert into the view throw, until what is returned is called. */
export async function breakView(
  clickhouse: Pick<TestClickHouse, "rows"> & { client: Pick<ClickHouseClient, "command"> },
  name: string,
): Promise<() => Promise<void>> {
  const [view] = await clickhouse.rows<{ select: string }>(
    `SELECT as_select AS select FROM system.tables WHERE database = currentDatabase() AND name = '${name}'`,
  );
  const select = view?.select ?? "";
  const broken = "WHERE throwIf(version > 0, 'broken by a test') = 0";
  const breaking = select.includes("WHERE")
    ? select.replace("WHERE", `${broken} AND`)
    : `${select} ${broken}`;
  const put = async (query: string) => {
    await clickhouse.client.command({ query: `ALTER TABLE ${name} MODIFY QUERY ${query}` });
  };
  await put(breaking);
  return () => put(select);
}
