import type { FunnelOwner } from "../../../schemas/records/funnel.js";
import { type Postgres, query } from "../../base/postgres/query.js";

/** The database's time, which orders runs of processes on several machines. */
export async function readRunTime(pg: Postgres): Promise<Date> {
  const [row] = await query<{ now: Date }>(pg, "select clock_timestamp() as now");
  return row?.now ?? new Date();
}

export interface OwnersPage {
  after: string | undefined;
  limit: number;
  only: string | undefined;
  /** Those with packages, pixels or companies, or those with companies whose past is due. */
  which: keyof typeof CONDITIONS;
}

/** In the order of their ids. */
export async function ownersAfter(
  pg: Postgres,
  { after, limit, only, which }: OwnersPage,
): Promise<FunnelOwner[]> {
  const text = `
    with owned as not materialized (
      select owner_id, id, 'package' as kind, importance from packages
      union all select owner_id, id, 'pixel', importance from pixels
    )
    select o.id, coalesce((
      select json_agg(json_build_object('id', a.id, 'kind', a.kind, 'importance', a.importance))
      from owned a where a.owner_id = o.id), '[]') as artifacts,
      (select ${utcDay("as_of")}::text from funnel_runs r where r.owner_id = o.id) as "lastRunOn"
    from owners o
    where ($1::uuid is null or o.id > $1) and ($3::uuid is null or o.id = $3)
      and (${CONDITIONS[which]})
    order by o.id limit $2`;
  return query<FunnelOwner>(pg, text, [after ?? null, limit, only ?? null]);
}

const CONDITIONS = {
  all: `exists (select from owned a where a.owner_id = o.id)
    or exists (select from funnel_companies c where c.owner_id = o.id)`,
  due: "exists (select from funnel_companies c where c.owner_id = o.id and c.is_due)",
};

/** The UTC day of a timestamp, as SQL. */
export function utcDay(column: string): string {
  return `(${column} at time zone 'utc')::date`;
}
