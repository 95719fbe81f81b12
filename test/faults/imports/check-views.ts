import type { PersistentClickHouse } from "../worlds/persistent-clickhouse.js";

/**
 * Counts the rows in which a view's table differs from the view's own question asked anew of the raw rows of a
 * package, over all views that add up.
 */
export async function countDifferingRows(
  { rows }: Pick<PersistentClickHouse, "rows">,
  packageId: string,
): Promise<{ view: string; rows: number }[]> {
  const views = await rows<{ name: string; select: string; columns: string[] }>(`
    SELECT views.name AS name, views.as_select AS select, columns.names AS columns
    FROM system.tables AS views
    JOIN
    (
      SELECT table, groupArray(name) AS names FROM system.columns
      -- Those with a default are not the view's.
      WHERE database = currentDatabase() AND default_kind = '' GROUP BY table
    ) AS columns ON columns.table = replaceOne(views.name, '_view', '')
    WHERE views.database = currentDatabase() AND views.engine = 'MaterializedView'
      AND hasAny(columns.names, ['total', 'live'])`);
  const differing = [];
  for (const { name, select, columns } of views) {
    const scope = columns.includes("package") ? "package" : "artifact";
    const sum = columns.includes("total") ? "total" : "live";
    const keys = columns.filter((column) => column !== sum).join(", ");
    const added = (from: string) =>
      `SELECT ${keys}, sum(${sum}) AS added FROM ${from} WHERE ${scope} = '${packageId}' GROUP BY ${keys} HAVING added != 0`;
    const stored = added(name.replace("_view", ""));
    const recounted = added(`(${select})`);
    const [counted] = await rows<{ differing: string }>(`
      SELECT count() AS differing FROM (
        (${stored} EXCEPT ALL ${recounted}) UNION ALL (${recounted} EXCEPT ALL ${stored}))`);
    if (Number(counted?.differing) > 0) differing.push({ view: name, rows: Number(counted?.differing) });
  }
  return differing;
}
