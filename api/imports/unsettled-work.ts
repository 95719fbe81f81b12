import { query, type Postgres } from "../postgres/query.js";
import { IS_UNSETTLED } from "./import-record.js";

export interface UnsettledWork {
  /** Imports (UUIDs), oldest first, whose lines are being received, wait in the event log, or are not settled. */
  imports: string[];
  /** Batches of settlement, of imports or of erasures, that may be applied in part. */
  batches: number;
}

export async function readUnsettledWork(pg: Postgres): Promise<UnsettledWork> {
  const imports = `select id from imports where ${IS_UNSETTLED} order by id`;
  // Those of an owner that was deleted are left.
  const batches = "select count(*)::float8 as open from settlements join owners on owners.id = owner_id";
  const [counted] = await query<{ open: number }>(pg, batches);
  const rows = await query<{ id: string }>(pg, imports);
  return { imports: rows.map(({ id }) => id), batches: counted?.open ?? 0 };
}
