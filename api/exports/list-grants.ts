import { query, type Postgres } from "../postgres/query.js";

/** An owner that may export. */
export interface ExportGrant {
  name: string;
  kind: "user" | "organization";
}

export async function listGrants(pg: Postgres): Promise<ExportGrant[]> {
  return query<ExportGrant>(pg, "select name, kind from owners where export_enabled order by name_key");
}
