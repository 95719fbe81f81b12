import type { Pool } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import { insertAuditEntry } from "../../base/access/audit-entries.js";
import { lockOwner } from "../../base/access/owners.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { IS_UNSETTLED } from "../imports/import-record.js";

/** For the operator. Answers its name as spelled. Throws where there is none, or naming what has to go first. */
export async function removeOrganization(pg: Pool, name: string): Promise<string> {
  return inTransaction(pg, async (client) => {
    await lockOwner(client, name);
    const found = await readRemovable(client, name);
    if (found === undefined) throw new Error(`The organization ${name} does not exist.`);
    requireEmpty(found);
    const target = { kind: "organization", id: found.id, name: found.name } as const;
    for (const ownerId of found.members)
      await insertAuditEntry(client, { ownerId, by: OPERATOR, action: "organization.remove", target });
    await deleteOrganization(client, found.id);
    return found.name;
  });
}

function requireEmpty({ name, packages, pixels, imports, erasing }: RemovableOrganization): void {
  const obstacles = [
    ...(packages.length > 0 ? [`owns the packages ${listed(packages)}: delete them first`] : []),
    ...(pixels.length > 0 ? [`owns the pixels ${listed(pixels)}: delete them first`] : []),
    ...(imports.length > 0
      ? [`has running imports (${listed(imports)}): abort them, or wait until they are done`]
      : []),
    ...(erasing > 0 ? ["has events that are being erased: wait a few minutes"] : []),
  ];
  if (obstacles.length > 0) throw new Error(`${name} ${obstacles.join("; and ")}. Nothing was removed.`);
}

interface RemovableOrganization {
  id: string;
  name: string;
  members: string[];
  packages: string[];
  pixels: string[];
  imports: string[];
  /** Erasures of clients and of deleted packages and pixels that are not through. */
  erasing: number;
}

/** Answers undefined where no organization has the name. Lock the owner before. */
async function readRemovable(client: Postgres, name: string): Promise<RemovableOrganization | undefined> {
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
async function deleteOrganization(client: Postgres, id: string): Promise<void> {
  await query(client, "delete from owners where id = $1", [id]);
}

const NAMED_MAX = 20;

/** Names in a sentence, or the first of very many. */
export function listed(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  return `${names.slice(0, NAMED_MAX).join(", ")}${more}`;
}
