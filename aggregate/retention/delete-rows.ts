import type { ClickHouse } from "../../schemas/shards.js";
import { hasRow } from "../queries/has-row.js";
import { sqlName } from "../queries/sql-literals.js";

export interface RowsToDelete {
  table: string;
  /** SQL, with `params`. */
  where: string;
  params: Record<string, unknown>;
  /** SQL: the bytes of a row, where they are worth counting. */
  bytes?: string;
  /** SQL: what becomes of the rows, in place of their deletion. */
  update?: string;
}

/**
 * Answers how many rows there are. ClickHouse rewrites their parts in its own time: rows are asked for once,
 * because a later call waits until the table has no such work left.
 */
export async function deleteRows(clickhouse: ClickHouse, rows: RowsToDelete): Promise<Removed> {
  const table = sqlName(rows.table);
  if (await isRewriting(clickhouse, table)) return NOTHING_REMOVED;
  const removed = await countRows(clickhouse, { ...rows, table });
  if (removed.rows === 0) return removed;
  const change = rows.update === undefined ? "DELETE" : `UPDATE ${rows.update}`;
  await clickhouse.command({
    query: `ALTER TABLE ${table} ${change} WHERE ${rows.where}`,
    query_params: rows.params,
    clickhouse_settings: { mutations_sync: "0", ...ON_REPLICAS },
  });
  return removed;
}

/**
 * A replica that is behind may find fewer rows by a condition that reads another table. Replicas take the
 * first one's part, so callers with such a condition ask again until no rows are left.
 */
const ON_REPLICAS = { allow_nondeterministic_mutations: 1 } as const;

async function countRows(
  clickhouse: ClickHouse,
  { table, where, params, bytes = "0" }: RowsToDelete,
): Promise<Removed> {
  const answer = await clickhouse.query({
    query: `SELECT count() AS rows, sum(${bytes}) AS bytes FROM ${table} WHERE ${where}`,
    query_params: params,
    format: "JSONEachRow",
  });
  const [counted] = await answer.json<{ rows: string; bytes: string }>();
  return { rows: Number(counted?.rows ?? 0), bytes: Number(counted?.bytes ?? 0) };
}

/** Whether ClickHouse still has parts of the table to rewrite. */
export function isRewriting(clickhouse: ClickHouse, table: string): Promise<boolean> {
  return hasRow(clickhouse, {
    query: `SELECT 1 FROM system.mutations
      WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done LIMIT 1`,
    params: { table },
  });
}

/** Rows that were removed because they were kept for long enough; `bytes` as far as they are known. */
export interface Removed {
  rows: number;
  bytes: number;
}

export const NOTHING_REMOVED: Removed = { rows: 0, bytes: 0 };

export function addRemoved(parts: readonly Removed[]): Removed {
  return parts.reduce(
    (sum, { rows, bytes }) => ({ rows: sum.rows + rows, bytes: sum.bytes + bytes }),
    NOTHING_REMOVED,
  );
}
