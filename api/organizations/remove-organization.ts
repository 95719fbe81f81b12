import type { Pool } from "pg";
import { OPERATOR } from "../../schemas/contracts/audit-entry.js";
import { insertAuditEntry } from "../access/audit-entries.js";
import { deleteOrganization, readRemovable, type RemovableOrganization } from "./organization-removal.js";
import { lockOwner } from "../access/owners.js";
import { inTransaction } from "../postgres/connection.js";
import { listed } from "./listed-names.js";

/**
 * Removes an organization for the operator. Its members have this in their own logs. Answers its name as it was spelled.
 * Throws where there is none of the name, or where something has to go first, naming it.
 */
export async function removeOrganization(pg: Pool, name: string): Promise<string> {
  return inTransaction(pg, async (client) => {
    await lockOwner(client, name);
    const found = await readRemovable(client, name);
    if (found === undefined) throw new Error(`There is no organization ${name}.`);
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
    ...(imports.length > 0 ? [`has imports under way: abort or wait for ${listed(imports)}`] : []),
    ...(erasing > 0 ? ["has events that are being erased: wait for some minutes"] : []),
  ];
  if (obstacles.length > 0) throw new Error(`${name} ${obstacles.join("; and ")}. Nothing was removed.`);
}
