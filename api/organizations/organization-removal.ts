import { query, type Postgres } from "../postgres/query.js";
import { IS_UNSETTLED } from "../imports/import-record.js";

/** An organization, and what would be lost or break off without it. */
export interface RemovableOrganization {
  id: string;
  name: string;
  /** Account ids. */
  members: string[];
  packages: string[];
  pixels: string[];
  /** Imports that run or are not settled, by id. */
  imports: string[];
  /** Erasures of clients and of deleted packages and pixels that are not through. */
  erasing: number;
}

/** Answers undefined where no organization has the name. Lock the owner before. */
export async function readRemovable(
  client: Postgres,
  name: string,
): Promise<RemovableOrganization | undefined> {
  const text = `
    select o.id, o.name,
      array(select account_id::text from memberships where organization_id = o.id order by account_id) as members,
      array(select name from packages where owner_id = o.id order by name) as packages,
      array(select name from pixels where owner_id = o.id order by name) as pixels,
      array(select id::text from imports
        where owner_id = o.id and (${IS_UNSETTLED} or (retracted and not log_erased))
        order by id) as imports,
      (select count(*) from deleted_artifacts where owner_id = o.id and erased_at is null)::int
        + (select count(*) from erasures where owner_id = o.id and finished_at is null)::int as erasing
    from owners o join organizations using (id)
    where o.name_key = lower($1 collate "C")`;
  const [row] = await query<RemovableOrganization>(client, text, [name]);
  return row;
}

/** Deletes everything in PostgreSQL that belongs to the organization, its own log included. */
export async function deleteOrganization(client: Postgres, id: string): Promise<void> {
  await query(client, "delete from owners where id = $1", [id]);
}
