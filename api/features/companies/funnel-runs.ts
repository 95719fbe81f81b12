import { v7 as uuidv7 } from "uuid";
import { passFaultPoint } from "../../../schemas/fault-point.js";
import type { FunnelRun } from "../../../aggregate/funnel/run-funnel.js";
import type {
  DomainRange,
  FunnelCompany,
  FunnelTransaction,
  StageChange,
} from "../../../schemas/records/funnel.js";
import { transactionOn } from "../../base/postgres/connection.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { enqueueWebhookEvent } from "../../base/outbox/webhook-outbox.js";
import { ownersAfter, readRunTime, utcDay } from "./funnel-owners.js";
import { type RunState, takeTurn } from "./owner-turns.js";

/** On one connection, for one owner or for all. */
export function funnelStore(
  client: Postgres,
  { ownerId }: { ownerId?: string | undefined } = {},
): FunnelRun["store"] {
  // Set when owners are read.
  const run: RunState = { since: new Date(0), overdue: undefined };
  return {
    async ownersAfter(after, limit) {
      run.since = await readRunTime(client);
      return ownersAfter(client, { after, limit, only: ownerId, which: "all" });
    },
    inOwnerTransaction: (about, work) => inOwnerTransaction(client, { ...about, run }, work),
  };
}

/** The time of the owner's last funnel run; undefined while no company is at a stage. */
export async function readLastRun(pg: Postgres, ownerId: string): Promise<Date | undefined> {
  const text = `
    select as_of as "asOf" from funnel_runs r
    where owner_id = $1 and exists (select from funnel_changes c where c.owner_id = r.owner_id)`;
  const [row] = await query<{ asOf: Date }>(pg, text, [ownerId]);
  return row?.asOf;
}

export async function findOwnerId(pg: Postgres, name: string): Promise<string | undefined> {
  const text = `select id from owners where name_key = lower($1 collate "C")`;
  const [row] = await query<{ id: string }>(pg, text, [name]);
  return row?.id;
}

interface About {
  ownerId: string;
  asOf: Date;
}

async function inOwnerTransaction(
  client: Postgres,
  about: About & { run: RunState },
  work: (owner: FunnelTransaction) => Promise<void>,
): Promise<"done" | "later" | "importing"> {
  const outcome = await transactionOn(client, async () => {
    if (!(await takeTurn(client, about))) return "importing";
    if (!(await putRun(client, about))) return "later";
    await work(transactionOf(client, about));
    passFaultPoint("funnel-before-commit");
    return "done";
  });
  if (outcome === "done") passFaultPoint("funnel-after-commit");
  return outcome;
}

function transactionOf(client: Postgres, about: About): FunnelTransaction {
  return {
    companiesIn: (range) => companiesIn(client, about.ownerId, range),
    putCompanies: (companies) => putCompanies(client, about, companies),
    removeCompanies: (domains) => removeCompanies(client, about.ownerId, domains),
    putChanges: async (changes) => {
      await insertChanges(client, about, changes);
      await addGrowth(client, about, changes);
    },
    announce: async (changes) => {
      const { ownerId, asOf: createdAt } = about;
      const data = { companies: changes.map(announced) };
      await enqueueWebhookEvent(client, { ownerId, type: "company-funnel-stage-changed", data, createdAt });
      passFaultPoint("funnel-announced");
    },
  };
}

/** The first change of a company has no `old_stage`, as specified. */
function announced({ domain, name, oldStage, newStage }: StageChange) {
  return { domain, name, ...(oldStage !== null && { old_stage: oldStage }), new_stage: newStage };
}

/** False if a later run has stored its results, unless no company is at a stage: then there is nothing to overwrite. */
async function putRun(pg: Postgres, { ownerId, asOf }: About): Promise<boolean> {
  const text = `
    insert into funnel_runs (owner_id, as_of) values ($1, $2)
    on conflict (owner_id) do update set as_of = excluded.as_of
      where funnel_runs.as_of <= excluded.as_of
        or not exists (select from funnel_changes c where c.owner_id = excluded.owner_id)
    returning owner_id`;
  return (await query(pg, text, [ownerId, asOf])).length > 0;
}

async function companiesIn(
  pg: Postgres,
  ownerId: string,
  { after, through }: DomainRange,
): Promise<FunnelCompany[]> {
  const text = `
    select domain, name, stage, engaged, score, downloads::float8 as downloads, views::float8 as views,
      recent_downloads::float8 as "recentDownloads", first_seen::text as "firstSeen", last_seen::text as "lastSeen",
      past, is_due as "isDue", announced_on is not null as "isAnnounced"
    from funnel_companies
    where owner_id = $1 and ($2::text is null or domain > $2) and ($3::text is null or domain <= $3)
    order by domain for update`;
  return query<FunnelCompany>(pg, text, [ownerId, after ?? null, through ?? null]);
}

async function putCompanies(
  pg: Postgres,
  { ownerId, asOf }: About,
  companies: readonly FunnelCompany[],
): Promise<void> {
  const text = `
    insert into funnel_companies as company
      (owner_id, domain, name, stage, since, engaged, score, downloads, views, recent_downloads, first_seen, last_seen,
        past, is_due, announced_on)
    select $1, domain, name, stage, case when stage is not null then $2::timestamptz end, engaged, score, downloads,
      views, recent_downloads, first_seen, last_seen, past, is_due,
      case when is_announced then ${utcDay("$2::timestamptz")} end
    from unnest($3::text[], $4::text[], $5::text[], $6::boolean[], $7::float8[], $8::bigint[], $9::bigint[],
      $10::bigint[], $11::date[], $12::date[], $13::text[], $14::boolean[], $15::boolean[])
      as seen (domain, name, stage, engaged, score, downloads, views, recent_downloads, first_seen, last_seen, past,
        is_due, is_announced)
    on conflict (owner_id, domain) do update set
      name = excluded.name, stage = excluded.stage, engaged = excluded.engaged, score = excluded.score,
      since = case when company.stage is distinct from excluded.stage then excluded.since else company.since end,
      downloads = excluded.downloads, views = excluded.views, recent_downloads = excluded.recent_downloads,
      first_seen = excluded.first_seen, last_seen = excluded.last_seen, past = excluded.past,
      is_due = excluded.is_due, announced_on = coalesce(company.announced_on, excluded.announced_on)`;
  const columns = COMPANY_COLUMNS.map((field) => companies.map((company) => company[field]));
  await query(pg, text, [ownerId, asOf, ...columns]);
}

const COMPANY_COLUMNS = [
  ...(["domain", "name", "stage", "engaged", "score"] as const),
  ...(["downloads", "views", "recentDownloads", "firstSeen", "lastSeen"] as const),
  ...(["past", "isDue", "isAnnounced"] as const),
];

async function removeCompanies(pg: Postgres, ownerId: string, domains: readonly string[]): Promise<void> {
  const text = "delete from funnel_companies where owner_id = $1 and domain = any($2)";
  await query(pg, text, [ownerId, domains]);
}

async function insertChanges(
  pg: Postgres,
  { ownerId, asOf }: About,
  changes: readonly StageChange[],
): Promise<void> {
  const text = `
    insert into funnel_changes (id, owner_id, changed_at, domain, old_stage, new_stage, cause)
    select id, $1, $2, domain, old_stage, new_stage, cause
    from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
      as made (id, domain, old_stage, new_stage, cause)`;
  const columns = (["domain", "oldStage", "newStage", "cause"] as const).map((field) =>
    changes.map((change) => change[field]),
  );
  await query(pg, text, [ownerId, asOf, changes.map(() => uuidv7()), ...columns]);
}

async function addGrowth(
  pg: Postgres,
  { ownerId, asOf }: About,
  changes: readonly StageChange[],
): Promise<void> {
  const growth = new Map<string, number>();
  const grow = (stage: string, by: number) => growth.set(stage, (growth.get(stage) ?? 0) + by);
  for (const { oldStage, newStage } of changes) {
    grow(newStage, 1);
    if (oldStage !== null) grow(oldStage, -1);
  }
  const text = `
    insert into funnel_growth as grown (owner_id, date, stage, companies)
    select $1, $2, stage, companies from unnest($3::text[], $4::integer[]) as new (stage, companies)
    on conflict (owner_id, date, stage) do update set companies = grown.companies + excluded.companies`;
  const date = asOf.toISOString().slice(0, 10);
  await query(pg, text, [ownerId, date, [...growth.keys()], [...growth.values()]]);
}
