import type { Pool } from "pg";
import { OPERATOR } from "../../schemas/contracts/audit-entry.js";
import { insertAuditEntry } from "../access/audit-entries.js";
import { readOwnerNamed } from "../access/owners.js";
import { inTransaction } from "../postgres/connection.js";
import { lockNpmName, readNpmNameOwner, upsertNpmName } from "./npm-names.js";

/**
 * Gives an npm name to a user or an organization, on behalf of the operator. It is in the audit logs of both owners.
 * Throws if there is no owner of that name.
 */
export async function assignNpmName(
  pg: Pool,
  { name, owner }: { name: string; owner: string },
): Promise<void> {
  await inTransaction(pg, async (client) => {
    await lockNpmName(client, name);
    const to = await readOwnerNamed(client, owner);
    if (to === undefined) throw new Error(`There is no user or organization ${owner}.`);
    const from = await readNpmNameOwner(client, name);
    await upsertNpmName(client, { name, ownerId: to.id });
    const owners = from === undefined || from.id === to.id ? [to] : [to, from];
    for (const { id } of owners)
      await insertAuditEntry(client, {
        ownerId: id,
        by: OPERATOR,
        action: "npm-name.assign",
        target: { kind: "npm-name", id: name, name },
        changes: { owner: to.name },
      });
  });
}
