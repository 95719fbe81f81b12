import type { Pool } from "pg";

export interface Audited {
  action: string;
  kind: string;
  name: string;
  changes: unknown;
}

/** The audit log's entries about an owner's things of one kind, oldest first. */
export async function auditOf(
  pg: Pool,
  { owner, kind }: { owner: string; kind: string },
): Promise<Audited[]> {
  const text = `
    select e.action, e.target_kind as kind, e.target_name as name, e.changes
    from audit_entries e join owners o on o.id = e.owner_id
    where o.name = $1 and e.target_kind = $2 order by e.id`;
  return (await pg.query<Audited>(text, [owner, kind])).rows;
}
