import { query, type Postgres } from "./query.js";

/** Rows of one statement. Other statements wait no longer than it takes. */
const BATCH_ROWS = 5_000;
/** Bounds one run of a job; the next run goes on. */
const BATCHES_MAX = 200;

export interface RowsToDelete {
  table: string;
  /** SQL: a condition on the row `t`, with `values`. */
  where: string;
  values?: readonly unknown[];
  /** SQL: what becomes of the rows, in place of their deletion. The condition must not hold for them any more. */
  update?: string;
}

/** Deletes the rows of a table that a condition of ours names, a batch at a time. Answers how many; a million at most. */
export async function deleteInBatches(
  pg: Postgres,
  { table, where, values = [], update }: RowsToDelete,
): Promise<number> {
  const change = update === undefined ? `delete from ${table}` : `update ${table} set ${update}`;
  const text = `
    with old as (select t.ctid from ${table} t where ${where} limit ${BATCH_ROWS}),
    deleted as (${change} where ctid = any (array(select ctid from old)) returning 1)
    select count(*)::float8 as rows from deleted`;
  let deleted = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const [counted] = await query<{ rows: number }>(pg, text, values);
    deleted += counted?.rows ?? 0;
    if ((counted?.rows ?? 0) < BATCH_ROWS) break;
  }
  return deleted;
}
