import type { Pool } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import { insertAuditEntry } from "../../base/access/audit-entries.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { OwnerRow } from "../../base/access/owners.js";
import { type Postgres, query } from "../../base/postgres/query.js";

/** For the operator. Answers the name as its owner spelled it. Throws if there is none of that name. */
export async function switchExport(
  pg: Pool,
  change: { name: string; exportEnabled: boolean },
): Promise<string> {
  return inTransaction(pg, async (client) => {
    const owner = await updateExportEnabled(client, change);
    if (owner === undefined) throw new Error(`The user or organization ${change.name} does not exist.`);
    const { id, kind, name } = owner;
    const { exportEnabled } = change;
    await insertAuditEntry(client, {
      ownerId: id,
      by: OPERATOR,
      action: exportEnabled ? "export.grant" : "export.revoke",
      target: { kind, id, name },
      changes: { exportEnabled },
    });
    return name;
  });
}

/** Answers the owner's id; undefined if there is no owner of that name. */
export async function updateExportEnabled(
  pg: Postgres,
  { name, exportEnabled }: { name: string; exportEnabled: boolean },
): Promise<Pick<OwnerRow, "id" | "kind" | "name"> | undefined> {
  const text = `
    update owners set export_enabled = $2 where name_key = lower($1 collate "C") returning id, kind, name`;
  const [row] = await query<Pick<OwnerRow, "id" | "kind" | "name">>(pg, text, [name, exportEnabled]);
  return row;
}

interface ExportGrant {
  name: string;
  kind: "user" | "organization";
}

export async function listGrants(pg: Postgres): Promise<ExportGrant[]> {
  return query<ExportGrant>(pg, "select name, kind from owners where export_enabled order by name_key");
}
