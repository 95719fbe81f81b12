import type { LibraryType } from "../../../schemas/records/artifact.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import type { Rule } from "./rules.js";

export interface ScopePackage {
  id: string;
  name: string;
  libraryType: LibraryType;
}

/** Of which packages does a message tell? Of all of the owner, whoever may see them: all who manage notifications may. */
export function readScopePackages(
  pg: Postgres,
  { ownerId, packageId }: Pick<Rule, "ownerId" | "packageId">,
): Promise<ScopePackage[]> {
  const text = `
    select id, name, library_type as "libraryType" from packages
    where owner_id = $1 and ($2::uuid is null or id = $2) order by name, id`;
  return query<ScopePackage>(pg, text, [ownerId, packageId]);
}
