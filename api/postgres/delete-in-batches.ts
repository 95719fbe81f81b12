import { query, type Postgres } from "./query.js";

/** Rows of one statement. Other statements wait no longer than it takes. */
const BATCH_ROWS = 5_000;
/** Bounds one run of a job; the next run goes on. */
const BATCHES_MAX = 200;

interface SomeRows {
  table: string;
  /** SQL: a condition of ours on the row `t`, with `values`. */
  where: string;
  values?: readonly unknown[];
}

/** Deletes rows of a table, a batch at a time. Answers how many; a million at most. */
export function deleteInBatches(pg: Postgres, rows: SomeRows): Promise<number> {
  return inBatches(pg, `delete from ${rows.table}`, rows);
}

/** Changes rows of a table by `set` (SQL), after which `where` must not hold for them any more. Otherwise as `deleteInBatches`. */
export function updateInBatches(pg: Postgres, { set, ...rows }: SomeRows & { set: string }): Promise<number> {
  return inBatches(pg, `update ${rows.table} set ${set}`, rows);
}

async function inBatches(
  pg: Postgres,
  change: string,
  { table, where, values = [] }: SomeRows,
): Promise<number> {
  const text = `
    with old as (select t.ctid from ${table} t where ${where} limit ${BATCH_ROWS}),
    changed as (${change} where ctid = any (array(select ctid from old)) returning 1)
    select count(*)::float8 as rows from changed`;
  let changed = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const [counted] = await query<{ rows: number }>(pg, text, values);
    changed += counted?.rows ?? 0;
    if ((counted?.rows ?? 0) < BATCH_ROWS) break;
  }
  return changed;
}
