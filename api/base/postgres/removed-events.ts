import { type Postgres, query } from "./query.js";

/** The day before which events were removed, `YYYY-MM-DD`; undefined while all are kept. */
export async function readRemovedBefore(pg: Postgres): Promise<string | undefined> {
  const [row] = await query<{ before: string }>(pg, `select ${REMOVED_BEFORE} as before`);
  return row?.before ?? undefined;
}

/** SQL: null while all events are kept. */
export const REMOVED_BEFORE = "(select before::text from events_removed)";

/** Closes the days before one, for good. An earlier day changes nothing. */
export async function putRemovedBefore(pg: Postgres, before: string): Promise<void> {
  const text = `
    insert into events_removed (before) values ($1)
    on conflict (only_row) do update set before = greatest(events_removed.before, excluded.before)`;
  await query(pg, text, [before]);
}

/** Settlement batches that are staged and may not be applied yet. */
export async function openBatches(pg: Postgres): Promise<string[]> {
  return (await query<{ batch: string }>(pg, "select batch from settlements")).map(({ batch }) => batch);
}
