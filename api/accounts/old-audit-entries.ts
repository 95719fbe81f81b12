import { deleteInBatches } from "../postgres/delete-in-batches.js";
import type { Postgres } from "../postgres/query.js";

/** Deletes the entries of more than so many days ago. Answers how many. */
export function deleteOldAuditEntries(pg: Postgres, days: number): Promise<number> {
  const where = "t.created_at < now() - make_interval(days => $1)";
  return deleteInBatches(pg, { table: "audit_entries", where, values: [days] });
}
