import type { ServedPackage } from "../../../ingest/collect/site-directory.js";
import { type Postgres, query } from "../../base/postgres/query.js";

export interface CollectedPixel {
  id: string;
  ownerId: string;
}

/** The channel of change notifications: `package <id>` or `pixel <id>`. */
export const COLLECT_CHANGES = "collect_changes";

/** Tells every collector to read this package again, as the triggers of the tables do. */
export async function notifyOfPackage(pg: Postgres, id: string): Promise<void> {
  await query(pg, "select pg_notify($1, 'package ' || $2)", [COLLECT_CHANGES, id]);
}

export interface CollectedQuery {
  ids?: readonly string[] | undefined;
  /** Whether to leave out hosts that their owners have not verified. */
  verifiedHostsOnly?: boolean | undefined;
}

/** The packages with live collection, and where they are served. */
export async function readCollectedPackages(
  pg: Postgres,
  { ids, verifiedHostsOnly = false }: CollectedQuery = {},
): Promise<ServedPackage[]> {
  const text = `
    select p.id, p.owner_id as "ownerId", p.name, p.library_type as "libraryType", p.backend_url as "backendUrl",
      p.public_url as "publicUrl", case when ${isServed("p.public_host")} then p.public_host end as "publicHost", p.repository_url as "repositoryUrl", coalesce(d.names, '[]') as domains,
      coalesce(r.routes, '[]') as routes,
      coalesce((select n.owner_id = p.owner_id from npm_names n where p.library_type = 'npm' and n.name = p.name), true)
        as "mayReport"
    from packages p
    left join (
      select d.package_id, json_agg(d.name) as names from package_domains d join packages p on p.id = d.package_id
      where ($1::uuid[] is null or d.package_id = any($1)) and ${isServed("d.name")} group by d.package_id
    ) d on d.package_id = p.id
    left join (
      select package_id, json_agg(json_build_object('templatePath', template_path, 'outgoingUrl', outgoing_url)) as routes
      from package_routes where $1::uuid[] is null or package_id = any($1) group by package_id
    ) r on r.package_id = p.id
    where ($1::uuid[] is null or p.id = any($1)) and p.library_type in ('docker', 'npm', 'pypi', 'other')`;
  return query<ServedPackage>(pg, text, [ids ?? null, verifiedHostsOnly]);
}

function isServed(host: string): string {
  return `(not $2::boolean or exists (
        select from verified_hosts v where v.host = ${host} and v.owner_id = p.owner_id))`;
}

export async function readCollectedPixels(pg: Postgres, ids?: readonly string[]): Promise<CollectedPixel[]> {
  const text = `
    select id, owner_id as "ownerId" from pixels where $1::uuid[] is null or id = any($1)`;
  return query<CollectedPixel>(pg, text, [ids ?? null]);
}
