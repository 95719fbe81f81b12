import type { Pool, QueryResultRow } from "pg";
import { Problem } from "../../schemas/problem.js";
import { isStoreDown } from "./store-down.js";

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
    if (tookTooLong(error)) throw unavailable("The database is too busy at the moment.", error);
    if (cameFromServer(error) && !isStoreDown(error)) throw error;
    throw unavailable("The database cannot be reached at the moment.", error);
  }
}

function unavailable(sentence: string, cause: unknown): Problem {
  return new Problem("unavailable", sentence, { retryAfterSeconds: 5, cause });
}

/**
 * Whether the server ended a statement at its `lock_timeout` (55P03) or `statement_timeout` (57014, also an operator's
 * cancellation). The connection is intact, and the statement had no effect.
 */
export function tookTooLong(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return cameFromServer(error) && (code === "55P03" || code === "57014");
}

/** Whether an error is the violation of the named unique or foreign key constraint. */
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
