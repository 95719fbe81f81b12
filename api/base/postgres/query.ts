import type { Pool, QueryResultRow } from "pg";
import { NETWORK_CODES, Problem } from "../../../schemas/problem.js";

/** A pool, or one client of it inside a transaction. */
export type Postgres = Pick<Pool, "query">;

/**
 * Runs one parameterised statement. An error that did not come from the server is a failed connection, whatever the
 * driver calls it (many of its errors carry no code): a Problem `unavailable` with the error as its cause. A statement
 * that the server cancelled for a timeout is one as well.
 */
export async function query<Row extends QueryResultRow>(
  pg: Postgres,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    return (await pg.query<Row>(text, [...values])).rows;
  } catch (error) {
    if (tookTooLong(error)) throw unavailable("The database is too busy. Try again later.", error);
    if (cameFromServer(error) && !isStoreDown(error)) throw error;
    throw unavailable("The database is temporarily unavailable. Try again later.", error);
  }
}

/** Runs a statement that selects `count(*)::int` alone. */
export async function readCount(
  pg: Postgres,
  text: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const [row] = await query<{ count: number }>(pg, text, values);
  return row?.count ?? 0;
}

function unavailable(sentence: string, cause: unknown): Problem {
  return new Problem("unavailable", sentence, { retryAfterSeconds: 5, cause });
}

/** At `lock_timeout` (55P03), `statement_timeout` or a cancellation (57014): nothing was changed. */
export function tookTooLong(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return cameFromServer(error) && (code === "55P03" || code === "57014");
}

export function violates(error: unknown, constraint: string): boolean {
  const { code, constraint: violated } = error as { code?: unknown; constraint?: unknown };
  return (code === "23505" || code === "23503") && violated === constraint;
}

/** A timestamp in the form of every answer: UTC with exactly six fractional digits, `2026-08-04T13:58:26.021037Z`. */
export function utc(column: string): string {
  return `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Every message of the server has a severity; the driver's own errors have none. */
function cameFromServer(error: unknown): boolean {
  return error instanceof Error && "severity" in error;
}

/** A page of a v2 list, newest first: the entries after (older than) the one with this id. */
export interface Page {
  after?: string;
  perPage: number;
}

/**
 * Whether an error means that a store is unavailable: a refused, reset or timed-out connection, or PostgreSQL's classes 08
 * (connection), 53 (no disk, memory or connection left), 57P0x (shutting down, starting up) and 58 (its disk or system
 * fails), or 25006 (a standby, which takes no changes), or ClickHouse's codes of a server that cannot reach a shard.
 */
export function isStoreDown(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return false;
  return DOWN.has(code) || /^(?:08...|53...|57P0[1-5]|58...|25006)$/.test(code);
}

const DOWN: ReadonlySet<string> = new Set([
  ...NETWORK_CODES,
  "ECONNABORTED",
  "209", // SOCKET_TIMEOUT
  "210", // NETWORK_ERROR
  "279", // ALL_CONNECTION_TRIES_FAILED
  "369", // ALL_REPLICAS_ARE_STALE
]);

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

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
