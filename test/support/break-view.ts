import { onTestFinished } from "vitest";
import type { TestClickHouse } from "./open-clickhouse.js";

/** Makes every insert into the view throw, until it is restored, or the test ends. */
export async function breakView(clickhouse: TestClickHouse, name: string): Promise<() => Promise<void>> {
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
  onTestFinished(() => put(select));
  return () => put(select);
}
