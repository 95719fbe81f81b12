import { v7 as uuidv7 } from "uuid";
import type { PastStore } from "../../../aggregate/funnel/fill-pasts.js";
import type { CompanyPast, DueCompany } from "../../../schemas/records/funnel.js";
import { transactionOn } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { ownersAfter, readRunTime, utcDay } from "./funnel-owners.js";
import { type RunState, takeTurn } from "./owner-turns.js";

/** On one connection, for one owner or for all. */
export function pastStore(
  client: Postgres,
  { ownerId: only }: { ownerId?: string | undefined } = {},
): PastStore {
  // Set when owners are read.
  const run: RunState = { since: new Date(0), overdue: undefined };
  return {
    async dueOwnersAfter(after, limit) {
      run.since = await readRunTime(client);
      return ownersAfter(client, { after, limit, only, which: "due" });
    },
    dueCompanies: (ownerId, page) => dueCompanies(client, { ownerId, ...page }),
    putPasts: (ownerId, pasts) =>
      transactionOn(client, async () => {
        if (!(await takeTurn(client, { ownerId, run }))) return false;
        await putPasts(client, { ownerId, pasts });
        return true;
      }),
  };
}

async function dueCompanies(
  pg: Postgres,
  { ownerId, after, limit }: { ownerId: string; after: string | undefined; limit: number },
): Promise<DueCompany[]> {
  const text = `
    select domain, past, coalesce(announced_on, ${utcDay("as_of")})::text as until
    from funnel_companies join funnel_runs using (owner_id)
    where owner_id = $1 and is_due and ($2::text is null or domain > $2)
    order by domain limit $3`;
  return query<DueCompany>(pg, text, [ownerId, after ?? null, limit]);
}

interface OfDomains {
  ownerId: string;
  domains: readonly string[];
}

async function putPasts(
  pg: Postgres,
  { ownerId, pasts }: { ownerId: string; pasts: readonly CompanyPast[] },
): Promise<void> {
  const domains = await lockUnchanged(pg, { ownerId, pasts });
  const locked = new Set(domains);
  const of = { ownerId, domains };
  await addGrowth(pg, of, -1);
  await query(pg, "delete from funnel_changes where owner_id = $1 and domain = any($2) and is_past", [
    ownerId,
    domains,
  ]);
  await insertPasts(pg, { ownerId, pasts: pasts.filter(({ domain }) => locked.has(domain)) });
  await addGrowth(pg, of, 1);
  await placeByChanges(pg, of);
}

/** The domains whose companies no run has changed since they were due, locked. */
async function lockUnchanged(
  pg: Postgres,
  { ownerId, pasts }: { ownerId: string; pasts: readonly CompanyPast[] },
): Promise<string[]> {
  const text = `
    select domain from funnel_companies c join unnest($2::text[], $3::text[]) as due (domain, past) using (domain, past)
    where owner_id = $1 order by domain for update of c`;
  const columns = (["domain", "past"] as const).map((field) => pasts.map((each) => each[field]));
  const rows = await query<{ domain: string }>(pg, text, [ownerId, ...columns]);
  return rows.map(({ domain }) => domain);
}

/** Each change is at the last millisecond of its day, as in a run as of a day. */
async function insertPasts(
  pg: Postgres,
  { ownerId, pasts }: { ownerId: string; pasts: readonly CompanyPast[] },
): Promise<void> {
  const text = `
    insert into funnel_changes (id, owner_id, changed_at, domain, old_stage, new_stage, cause, is_past)
    select id, $1, changed_at, domain, old_stage, new_stage, cause, true
    from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[])
      as made (id, changed_at, domain, old_stage, new_stage, cause)`;
  const rows = pasts.flatMap(({ domain, changes }) =>
    changes.map(({ date, newStage, cause }, nth) => [
      ...[uuidv7(), `${date}T23:59:59.999Z`, domain],
      ...[changes[nth - 1]?.newStage ?? null, newStage, cause],
    ]),
  );
  const columns = [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column]));
  await query(pg, text, [ownerId, ...columns]);
}

/**
 * Changes of companies in their order, each with the stage before it, as SQL. The first announcement repeats the stage of
 * the day before when nothing changed that day.
 */
export const CHANGES = `
  select id, domain, changed_at, new_stage, cause,
    lag(new_stage) over (partition by domain order by changed_at, id) as old_stage
  from funnel_changes where owner_id = $1 and domain = any($2::text[])`;

/** Adds the changes of these companies to the counts of their days, or takes them away. */
async function addGrowth(pg: Postgres, { ownerId, domains }: OfDomains, times: 1 | -1): Promise<void> {
  const text = `
    insert into funnel_growth as grown (owner_id, date, stage, companies)
    select $1, ${utcDay("changed_at")} as date, stage, $3 * sum(companies)
    from (${CHANGES}) as change
      cross join lateral (values (new_stage, 1), (old_stage, -1)) as moved (stage, companies)
    where stage is not null
    group by date, stage having sum(companies) <> 0
    on conflict (owner_id, date, stage) do update set companies = grown.companies + excluded.companies`;
  await query(pg, text, [ownerId, domains, times]);
}

/** Announced stages stay. Companies without one are at the last stage of their past, and are gone if nothing is left. */
async function placeByChanges(pg: Postgres, { ownerId, domains }: OfDomains): Promise<void> {
  const text = `
    with changes as (${CHANGES}),
    last as (
      select distinct on (domain) domain, new_stage, changed_at from changes
      where old_stage is distinct from new_stage order by domain, changed_at desc, id desc
    ),
    engaged as (select domain, bool_or(new_stage <> 'interest') as is_engaged from changes group by domain)
    update funnel_companies c set stage = last.new_stage, since = last.changed_at,
      engaged = coalesce(is_engaged, false), is_due = false
    from unnest($2::text[]) as placed (domain) left join last using (domain) left join engaged using (domain)
    where c.owner_id = $1 and c.domain = placed.domain`;
  await query(pg, text, [ownerId, domains]);
  await query(
    pg,
    `delete from funnel_companies where owner_id = $1 and domain = any($2) and stage is null and first_seen is null`,
    [ownerId, domains],
  );
}
