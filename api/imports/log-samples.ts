import { updateInBatches } from "../postgres/delete-in-batches.js";
import { query, type Postgres } from "../postgres/query.js";

/** SQL: what forgets the samples of a chunk. The counts of its import stay. */
const EMPTY = "errors = null, warnings = null";

/** SQL: whether a chunk has samples. The entry of a dead letter stays: an operator decides about its lines. */
const HAS_SAMPLES = "dead_letter_lines is null and (errors is not null or warnings is not null)";

/** Forgets the samples of these imports' logs (UUIDs). */
export async function emptySamples(pg: Postgres, imports: readonly string[]): Promise<void> {
  const text = `update import_chunks set ${EMPTY} where import_id = any($1::uuid[]) and ${HAS_SAMPLES}`;
  await query(pg, text, [imports]);
}

/** Forgets the samples of chunks received more than so many days ago: log entries have the same age. Answers of how many. */
export function emptyOldSamples(pg: Postgres, days: number): Promise<number> {
  const where = `${HAS_SAMPLES}
    and t.receipt_stamp < extract(epoch from now() - make_interval(days => $1)) * 1000`;
  return updateInBatches(pg, { table: "import_chunks", set: EMPTY, where, values: [days] });
}
