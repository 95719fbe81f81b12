import type { Pool } from "pg";

export interface ReadEntry {
  by: string;
  action: string;
  kind: string;
  name: string;
  changes: Record<string, unknown>;
}

/** The audit log of an owner, oldest first, without the entry of the owner's making. */
export async function readAudit(pg: Pool, owner: string): Promise<ReadEntry[]> {
  const text = `
    select actor.name as by, action, target_kind as kind, target_name as name, changes
    from audit_entries e join owners o on o.id = e.owner_id join owners actor on actor.id = e.account_id
    where o.name_key = lower($1) and action <> 'organization.create' and action <> 'packages.create'
    order by e.id`;
  return (await pg.query<ReadEntry>(text, [owner])).rows;
}
