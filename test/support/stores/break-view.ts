import { onEveryServer, type ServerTables } from "./open-clickhouse.js";

/** Makes every insert into the view throw on each of these servers, until what is returned is called. */
export async function breakView(
  servers: readonly ServerTables[],
  name: string,
): Promise<() => Promise<void>> {
  const [first] = servers;
  const [view = { select: "" }] =
    (await first?.rows<{ select: string }>(
      `SELECT as_select AS select FROM system.tables WHERE database = currentDatabase() AND name = '${name}'`,
    )) ?? [];
  const { select } = view;
  const broken = "WHERE throwIf(version > 0, 'broken by a test') = 0";
  const breaking = select.includes("WHERE")
    ? select.replace("WHERE", `${broken} AND`)
    : `${select} ${broken}`;
  const put = (query: string) => onEveryServer(servers, `ALTER TABLE ${name} MODIFY QUERY ${query}`);
  await put(breaking);
  return () => put(select);
}
