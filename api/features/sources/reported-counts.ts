import type { ReportedLine } from "../../../schemas/contracts/source.js";
import type { Nullable } from "../../../schemas/formats.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { type Postgres, query, utc } from "../../base/postgres/query.js";
import { IS_HIDDEN } from "./sources.js";

export interface ReportedQuery {
  accountId: string;
  ownerId: string;
  range: DateRange;
  sourceId?: string | undefined;
  packageId?: string | undefined;
}

/** A line with null where it has no value. */
export type ReportedRow = Nullable<ReportedLine>;

const ROWS = 5_000;

/**
 * By source, date, version and metric, a few thousand at a time, without sources of packages that the account is blocked
 * from.
 */
export async function* readReported(pg: Postgres, asked: ReportedQuery): AsyncGenerator<ReportedRow[]> {
  const { accountId, ownerId, range, sourceId = null, packageId = null } = asked;
  let after: (string | null)[] = [null, null, null, null];
  for (;;) {
    const values = [accountId, ownerId, range.startDate, range.endDate, sourceId, packageId, ...after, ROWS];
    const rows = await query<ReportedRow>(pg, SELECT, values);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS) return;
    after = [last.source, last.date, last.version ?? "", last.metric];
  }
}

/** Values are far below 2^53: counts of a day. */
const SELECT = `
  select s.id as source, s.kind, s.name, s.package_id, c.date::text as date, nullif(c.version, '') as version, c.metric,
    c.value::float8 as value, c.first_value::float8 as first_value, ${utc("c.fetched_at")} as fetched_at,
    ${utc("c.changed_at")} as changed_at
  from sources s join reported_counts c on c.source_id = s.id
  where s.owner_id = $2 and not (${IS_HIDDEN}) and c.date >= $3::date and c.date < $4::date
    and ($5::uuid is null or s.id = $5) and ($6::uuid is null or s.package_id = $6)
    and ($7::uuid is null or (s.id, c.date, c.version collate "C", c.metric collate "C") > ($7, $8::date, $9::text, $10::text))
  order by s.id, c.date, c.version collate "C", c.metric collate "C" limit $11`;

/** What one source reported day by day, all versions together. */
export interface ReportedDay {
  source: string;
  kind: ReportedLine["kind"];
  name: string;
  packageId: string | null;
  metric: ReportedLine["metric"];
  date: string;
  /** Null on a day without a value. */
  value: number | null;
}

export async function readReportedDays(pg: Postgres, asked: ReportedQuery): Promise<ReportedDay[]> {
  const { accountId, ownerId, range, packageId = null } = asked;
  const text = `
    select s.id as source, s.kind, s.name, s.package_id as "packageId", c.metric, c.date::text as date,
      sum(c.value)::float8 as value
    from sources s join reported_counts c on c.source_id = s.id
    where s.owner_id = $2 and not (${IS_HIDDEN}) and c.date >= $3::date and c.date < $4::date
      and ($5::uuid is null or s.package_id = $5)
    group by s.id, c.metric, c.date order by s.id, c.metric, c.date`;
  return query(pg, text, [accountId, ownerId, range.startDate, range.endDate, packageId]);
}
