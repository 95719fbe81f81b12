import type { ClickHouse } from "../../../schemas/shards.js";
import { readCompanyArtifacts, readCompanyDays } from "../../../aggregate/funnel/read-company-activity.js";
import { readDailyDownloads, readDomainsOf } from "../../../aggregate/funnel/read-daily-downloads.js";
import {
  COMPANY,
  COMPANY_DETAIL,
  COMPANY_LIST,
  type CompanyDetail,
  type CompanyRecord,
} from "../../../schemas/contracts/funnel.js";
import {
  type DateRange,
  RANGE_DAYS_MAX,
  lastDays,
  parseOptionalDateRange,
} from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { requireExportOf, wholeOwnerFor } from "../../base/access/authorise.js";
import { answerCompanies, companiesAsCsv, companiesTypeOf } from "./answer-companies.js";
import { RANGE_QUERY } from "../../base/http/answers/range-query.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { PAGE_QUERY, pageOf } from "../../base/http/answers/paging.js";
import { type Page, type Postgres, query } from "../../base/postgres/query.js";
import { COMPANY_QUERY, isDomain } from "./company-filter.js";
import { listCompanies, listStageChanges, readAsOf, readCompany } from "./funnel-companies.js";
import { type NamedArtifact, artifactNamed, readArtifactNames } from "../../base/access/artifacts.js";

const DAYS_DEFAULT = 90;
const HISTORY_MAX = 1_000;

export interface CompanyRoutesDeps {
  pg: Postgres;
  clickhouse: ClickHouse;
}

/** Lines and CSV leave the service as files: they are exports, and need its action and the grant. */
export function companyRoutes(deps: CompanyRoutesDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/:owner/companies",
      action: "funnel.read",
      operation: LIST_COMPANIES,
      async handle({ ctx, account, action, query: asked, param, recordExports }) {
        const page = pageOf(asked);
        const { package: used, days, stage, search, sort, first_seen_from: firstSeenFrom } = asked;
        const filter = { stage, search, firstSeenFrom, sort };
        const owner = await wholeOwnerFor(deps.pg, account, param("owner"), action);
        const ownerId = owner.id;
        const type = companiesTypeOf(ctx);
        if (type !== "application/json") await requireExportOf(deps.pg, account, param("owner"));
        await requireEntry(deps.pg, ownerId, page);
        const asOf = await readAsOf(deps.pg, ownerId);
        const domains = used === undefined ? undefined : await usersOf(used, { ownerId }, deps);
        const found = await listCompanies(deps.pg, { ownerId, page, filter: { ...filter, domains } });
        const companies = days === undefined ? found : await withDays(found, { ownerId, days }, deps);
        answerCompanies(ctx, companies, { page, type, asOf });
        if (type === "application/json") return;
        const changes = { export: "companies", format: type, ...filter, package: used };
        recordExports({ ownerId, target: owner, changes });
      },
    }),
    route({
      method: "GET",
      path: "/v2/:owner/companies/:company",
      action: "funnel.read",
      operation: GET_COMPANY,
      async handle({ ctx, account, action, query: asked, param }) {
        const limits = { daysMax: RANGE_DAYS_MAX, daysDefault: DAYS_DEFAULT, now: new Date() };
        const range = parseOptionalDateRange(asked, limits);
        const { id: ownerId } = await wholeOwnerFor(deps.pg, account, param("owner"), action);
        const domain = param("company").toLowerCase();
        const company = isDomain(domain) ? await readCompany(deps.pg, { ownerId, domain }) : undefined;
        if (company === undefined)
          throw new Problem("not-found", `No company with the domain ${domain} has been seen.`);
        ctx.body = await detailOf(company, { ownerId, range }, deps);
      },
    }),
  ];
}

const EXAMPLE: CompanyRecord = {
  domain: "mercedes-benz.com",
  name: "Mercedes-Benz",
  stage: "experimentation",
  since: "2026-08-04T13:58:26.021037Z",
  score: 42.5,
  downloads: 31,
  views: 12,
  first_seen: "2026-05-11",
  last_seen: "2026-08-03",
  downloads_30_days: 9,
};

/** The companies would reveal the activity of the blocked package. */
export const NOT_FOR_THE_BLOCKED =
  "Covers all packages and pixels of the owner. If you are blocked from any of the packages, you get 403.";

const LIST_COMPANIES = {
  id: "listCompanies",
  tag: "Companies",
  summary: "List companies",
  description:
    "Returns each company's funnel stage, the time when it entered that stage, its score for the last 30 days, and its " +
    "total downloads and views. `as_of` is the time of the last funnel run; it is absent before the " +
    "first run. `Accept` selects JSON, NDJSON or CSV. NDJSON and CSV are exports: they require " +
    "permission to export, and data export must be enabled for the owner. The header `Link` also " +
    "contains the URL of the next page. " +
    NOT_FOR_THE_BLOCKED,
  query: {
    ...COMPANY_QUERY,
    after: {
      schema: { type: "string" },
      description: "Return companies after the one with this domain",
      example: "mercedes-benz.com",
      sentence: "must be the domain of a company in the list",
      allows: isDomain,
    },
    per_page: PAGE_QUERY.per_page,
  },
  answers: {
    200: {
      description: "A page of companies",
      schema: COMPANY_LIST,
      example: { as_of: "2026-08-04T14:00:00.021000Z", companies: [EXAMPLE] },
      others: {
        "application/x-ndjson": { schema: COMPANY, example: EXAMPLE },
        "text/csv": { schema: { type: "string" }, example: companiesAsCsv([EXAMPLE]) },
      },
      headers: {
        Link: {
          schema: { type: "string" },
          description: 'URL of the next page, as `<...>; rel="next"`. Absent on the last page',
        },
      },
    },
  },
  problems: ["forbidden", "export-not-granted", "ambiguous-name", "invalid-date"],
} as const satisfies Operation;

/** `startDate` and `endDate`, both optional. */
const GET_COMPANY = {
  id: "getCompany",
  tag: "Companies",
  summary: "Get a company with its activity, packages and stages",
  description:
    `Returns the company's active days in the range (default: the last ${DAYS_DEFAULT} days) and its ` +
    `last ${HISTORY_MAX.toLocaleString("en")} stage changes, newest first. ${NOT_FOR_THE_BLOCKED}`,
  path: {
    company: {
      schema: { type: "string", minLength: 1 },
      description: "Domain of the company",
      example: EXAMPLE.domain,
    },
  },
  query: RANGE_QUERY,
  answers: {
    200: {
      description: "The company",
      schema: COMPANY_DETAIL,
      example: {
        ...EXAMPLE,
        stage_history: [
          {
            old_stage: "investigation",
            new_stage: "experimentation",
            cause: "score",
            changed_at: "2026-08-04T13:58:26.021037Z",
          },
          { new_stage: "investigation", cause: "download", changed_at: "2026-05-11T14:00:00.112000Z" },
        ],
        days: [{ date: "2026-08-03", downloads: 2, views: 1 }],
        artifacts: [
          {
            kind: "package",
            id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
            name: "tools",
            downloads: 2,
            views: 0,
          },
        ],
      },
    },
  },
  problems: ["forbidden", "invalid-date", "empty-range", "range-too-long"],
} as const satisfies Operation;

async function usersOf(
  idOrName: string,
  { ownerId }: { ownerId: string },
  { pg, clickhouse }: CompanyRoutesDeps,
): Promise<string[]> {
  const text = `select id, name, library_type as "libraryType" from packages where owner_id = $1`;
  const { id } = artifactNamed("package", idOrName, await query<NamedArtifact>(pg, text, [ownerId]));
  return readDomainsOf(clickhouse, id);
}

async function withDays(
  companies: readonly CompanyRecord[],
  { ownerId, days }: { ownerId: string; days: number },
  { pg, clickhouse }: CompanyRoutesDeps,
): Promise<CompanyRecord[]> {
  const artifacts = [...(await readArtifactNames(pg, ownerId)).keys()];
  const domains = companies.map(({ domain }) => domain);
  const daily = await readDailyDownloads(clickhouse, { artifacts, domains, ...lastDays(days, new Date()) });
  const none = Array<number>(days).fill(0);
  return companies.map((each) => ({ ...each, daily_downloads: daily.get(each.domain) ?? none }));
}

/** An unknown `after` would look like the end of the list. */
async function requireEntry(pg: Postgres, ownerId: string, { after }: Page): Promise<void> {
  if (after === undefined || (await readCompany(pg, { ownerId, domain: after })) !== undefined) return;
  throw new Problem("invalid-query", "after must be the domain of a company in the list.");
}

async function detailOf(
  company: CompanyRecord,
  { ownerId, range }: { ownerId: string; range: DateRange },
  { pg, clickhouse }: CompanyRoutesDeps,
): Promise<CompanyDetail> {
  const { domain } = company;
  const names = await readArtifactNames(pg, ownerId);
  const asked = { artifacts: [...names.keys()], domain, ...range };
  const [history, days, used] = await Promise.all([
    listStageChanges(pg, { ownerId, domain, limit: HISTORY_MAX }),
    readCompanyDays(clickhouse, asked),
    readCompanyArtifacts(clickhouse, asked),
  ]);
  const artifacts = used.map(({ kind, id, events }) => ({
    ...{ kind, id, name: names.get(id) ?? "" },
    downloads: kind === "package" ? events : 0,
    views: kind === "pixel" ? events : 0,
  }));
  return { ...company, stage_history: history, days, artifacts };
}
