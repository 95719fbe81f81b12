import type { CompanyRecord, StageChangeRecord } from "../../../schemas/contracts/funnel.js";
import { type DateRange, FIRST_DAY } from "../../../schemas/date-range.js";
import type { Stage } from "../../../schemas/records/funnel.js";
import { withoutNulls } from "../../../schemas/formats.js";
import { type Page, type Postgres, query, utc } from "../../base/postgres/query.js";
import { CHANGES } from "./funnel-pasts.js";

/** The orders of the company list. */
export const COMPANY_SORTS = [
  ...(["score", "downloads_30_days", "downloads", "views"] as const),
  ...(["since", "first_seen", "last_seen", "name"] as const),
] as const;
export type CompanySort = (typeof COMPANY_SORTS)[number];

export interface CompanyFilter {
  stage: Stage | undefined;
  /** Only those with one of these in their name or domain. */
  search: readonly string[] | undefined;
  /** Only companies first seen on this day or later. */
  firstSeenFrom?: string | undefined;
  /** Only these, where they are given. */
  domains?: readonly string[] | undefined;
  sort: CompanySort;
}

/** Returns one company more than the page if there is a next page. `page.after` is a domain. */
export async function listCompanies(
  pg: Postgres,
  { ownerId, page, filter }: { ownerId: string; page: Page; filter: CompanyFilter },
): Promise<CompanyRecord[]> {
  const { key, after, order } = SORT_KEYS[filter.sort];
  const text = `
    with last as (select domain, ${key} as key from funnel_companies c where owner_id = $1 and domain = $2)
    select ${FIELDS} from funnel_companies c
    where owner_id = $1 and ($4::text is null or stage = $4)
      and ($5::text[] is null or exists (
        select from unnest($5::text[]) term
        where position(fold_case(term) in fold_case(name)) > 0 or position(fold_case(term) in fold_case(domain)) > 0))
      and ($6::date is null or first_seen >= $6) and ($7::text[] is null or domain = any ($7))
      and ($2::text is null
        or exists (select from last where ${key} ${after} last.key or (${key} = last.key and c.domain > last.domain)))
    order by ${key} ${order}, domain limit $3`;
  const { stage, search, firstSeenFrom, domains } = filter;
  const values = [
    ...[ownerId, page.after ?? null, page.perPage + 1, stage ?? null, search ?? null],
    ...[firstSeenFrom === undefined ? null : countableDate(firstSeenFrom), domains ?? null],
  ];
  return (await query<Row>(pg, text, values)).map(withoutNulls<CompanyRecord>);
}

interface SortKey {
  key: string;
  /** How the keys of later rows compare. */
  after: "<" | ">";
  order: "asc" | "desc";
}

const falling = (key: string): SortKey => ({ key, after: "<", order: "desc" });

const SORT_KEYS: Record<CompanySort, SortKey> = {
  score: falling("(score, recent_downloads)"),
  downloads_30_days: falling("recent_downloads"),
  downloads: falling("downloads"),
  views: falling("views"),
  since: falling("coalesce(since, '-infinity')"),
  first_seen: falling("coalesce(first_seen, '-infinity')"),
  last_seen: falling("coalesce(last_seen, '-infinity')"),
  name: { key: "fold_case(coalesce(nullif(c.name, ''), c.domain))", after: ">", order: "asc" },
};

const FIELDS = `domain, name, stage, ${utc("since")} as since, score, downloads::float8 as downloads,
  views::float8 as views, first_seen::text as first_seen, last_seen::text as last_seen,
  recent_downloads::float8 as downloads_30_days`;

type Row = { [Field in keyof Required<CompanyRecord>]: Required<CompanyRecord>[Field] | null };

export async function readCompany(
  pg: Postgres,
  { ownerId, domain }: { ownerId: string; domain: string },
): Promise<CompanyRecord | undefined> {
  const text = `select ${FIELDS} from funnel_companies where owner_id = $1 and domain = $2`;
  const [row] = await query<Row>(pg, text, [ownerId, domain]);
  return row && withoutNulls<CompanyRecord>(row);
}

/** Newest first. */
export async function listStageChanges(
  pg: Postgres,
  { ownerId, domain, limit }: { ownerId: string; domain: string; limit: number },
): Promise<StageChangeRecord[]> {
  const text = `
    select old_stage, new_stage, cause, ${utc("changed_at")} as changed_at from (${CHANGES}) as change
    where old_stage is distinct from new_stage order by change.changed_at desc, id desc limit $3`;
  const rows = await query<ChangeRow>(pg, text, [ownerId, [domain], limit]);
  return rows.map(withoutNulls<StageChangeRecord>);
}

type ChangeRow = { [Field in keyof Required<StageChangeRecord>]: Required<StageChangeRecord>[Field] | null };

/** At the end of each day; days without companies are absent. */
export async function countStages(
  pg: Postgres,
  { ownerId, startDate, endDate }: DateRange & { ownerId: string },
): Promise<{ date: string; stage: Stage; companies: number }[]> {
  const text = `
    select day::date::text as date, stage, sum(companies)::float8 as companies
    from generate_series($2::date, $3::date - 1, interval '1 day') day
    join funnel_growth on owner_id = $1 and date <= day
    group by day, stage order by day, stage`;
  return query(pg, text, [ownerId, ...[startDate, endDate].map(countableDate)]);
}

/** PostgreSQL has no year 0, in which a range may begin. No company was at a stage before this day. */
function countableDate(date: string): string {
  return date < FIRST_DAY ? FIRST_DAY : date;
}

export async function readAsOf(pg: Postgres, ownerId: string): Promise<string | undefined> {
  const text = `select ${utc("as_of")} as "asOf" from funnel_runs where owner_id = $1`;
  const [row] = await query<{ asOf: string }>(pg, text, [ownerId]);
  return row?.asOf;
}
