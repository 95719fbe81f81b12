import type { ParsedUrlQuery } from "node:querystring";
import type { ClickHouse } from "../../schemas/shards.js";
import { readCompanyArtifacts, readCompanyDays } from "../../aggregate/funnel/read-company-activity.js";
import {
  COMPANY,
  COMPANY_DETAIL,
  COMPANY_LIST,
  type CompanyDetail,
  type CompanyRecord,
  STAGE,
} from "../../schemas/contracts/funnel.js";
import { type DateRange, RANGE_DAYS_MAX, parseOptionalDateRange } from "../../schemas/date-range.js";
import { DATE } from "../../schemas/formats.js";
import { STAGES, type Stage } from "../../schemas/records/funnel.js";
import { Problem } from "../../schemas/problem.js";
import { requireExportOf, wholeOwnerFor } from "../access/authorise.js";
import { answerCompanies, companiesAsCsv, companiesTypeOf } from "../exports/answer-companies.js";
import { type Operation, type Route, route } from "../http/route.js";
import { PAGE_QUERY, parsePage } from "../http/answers/paging.js";
import type { Page, Postgres } from "../postgres/query.js";
import {
  COMPANY_SORTS,
  type CompanyFilter,
  type CompanySort,
  listCompanies,
  listStageChanges,
  readAsOf,
  readCompany,
} from "./funnel-companies.js";
import { readArtifactNames } from "../access/artifacts.js";

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
      async handle({ ctx, account, action, param, recordExports }) {
        const page = parsePage(ctx.query, isDomain);
        const filter = parseFilter(ctx.query);
        const owner = await wholeOwnerFor(deps.pg, account, param("owner"), action);
        const ownerId = owner.id;
        const type = companiesTypeOf(ctx);
        if (type !== "application/json") await requireExportOf(deps.pg, account, param("owner"));
        await requireEntry(deps.pg, ownerId, page);
        const asOf = await readAsOf(deps.pg, ownerId);
        answerCompanies(ctx, await listCompanies(deps.pg, { ownerId, page, filter }), { page, type, asOf });
        if (type === "application/json") return;
        recordExports({ ownerId, target: owner, changes: { export: "companies", format: type, ...filter } });
      },
    }),
    route({
      method: "GET",
      path: "/v2/:owner/companies/:company",
      action: "funnel.read",
      operation: GET_COMPANY,
      async handle({ ctx, account, action, param }) {
        const limits = { daysMax: RANGE_DAYS_MAX, daysDefault: DAYS_DEFAULT, now: new Date() };
        const range = parseOptionalDateRange(ctx.query, limits);
        const { id: ownerId } = await wholeOwnerFor(deps.pg, account, param("owner"), action);
        const domain = param("company").toLowerCase();
        const company = isDomain(domain) ? await readCompany(deps.pg, { ownerId, domain }) : undefined;
        if (company === undefined)
          throw new Problem("not-found", `No company of the domain ${domain} was seen yet.`);
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
  "It covers all packages and pixels of the owner, and is forbidden to callers who are blocked from one of the packages.";

const LIST_COMPANIES: Operation = {
  id: "listCompanies",
  tag: "Companies",
  summary: "List the companies that use a user's or an organization's packages",
  description:
    "With the stage of adoption that each is at and since when, its score of the last 30 days, and all its downloads " +
    "and views. As the last run of the funnel saw them, at `as_of`, absent before the first. `Accept` chooses between " +
    "JSON, NDJSON and CSV. NDJSON and CSV are exports: for those who may export, of an owner to whom export is granted. " +
    "The next page is also in the header " +
    '`Link`, with `rel="next"`. ' +
    NOT_FOR_THE_BLOCKED,
  query: {
    stage: { schema: STAGE, description: "Only companies at this stage" },
    search: {
      schema: { type: "string", minLength: 1, maxLength: 256 },
      description: "Only companies with this in their name or domain, whatever its case",
    },
    sort: {
      schema: { type: "string", enum: COMPANY_SORTS, default: "score" },
      description: "What the list is sorted by, the greatest or latest first, then by domain",
    },
    after: {
      schema: { type: "string" },
      description: "Only what comes after the company with this domain",
      example: "mercedes-benz.com",
    },
    ...{ per_page: PAGE_QUERY["per_page"] ?? { schema: {}, description: "" } },
  },
  answers: {
    200: {
      description: "One page of companies",
      schema: COMPANY_LIST,
      example: { as_of: "2026-08-04T14:00:00.021000Z", companies: [EXAMPLE] },
      others: {
        "application/x-ndjson": { schema: COMPANY, example: EXAMPLE },
        "text/csv": { schema: { type: "string" }, example: companiesAsCsv([EXAMPLE]) },
      },
      headers: {
        Link: { schema: { type: "string" }, description: 'The next page, `rel="next"`; absent on the last' },
      },
    },
  },
  problems: ["forbidden", "export-not-granted"],
};

/** `startDate` and `endDate`, both optional. */
export const RANGE_QUERY = {
  startDate: {
    schema: DATE,
    description: "The first UTC day; given with `endDate` or not at all",
    example: "2026-08-01",
  },
  endDate: {
    schema: DATE,
    description: `The first UTC day that is left out; at most ${RANGE_DAYS_MAX} days later`,
    example: "2026-09-01",
  },
} as const;

const GET_COMPANY: Operation = {
  id: "getCompany",
  tag: "Companies",
  summary: "Read a company, its daily activity, what it uses and its stages so far",
  description:
    `The days of the range on which it was active, or of the last ${DAYS_DEFAULT} days; the last ` +
    `${HISTORY_MAX.toLocaleString("en")} changes of stage, newest first. ${NOT_FOR_THE_BLOCKED}`,
  path: {
    company: { schema: { type: "string", minLength: 1 }, description: "Its domain", example: EXAMPLE.domain },
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
};

/** Accepts every name that a company database can contain, and rejects obvious mistakes. */
function isDomain(text: string): boolean {
  return text.length <= 1_024 && !/[\0\p{Surrogate}]/u.test(text);
}

function parseFilter({ stage, search, sort }: ParsedUrlQuery): CompanyFilter {
  if (stage !== undefined && !STAGES.includes(stage as Stage))
    throw new Problem("invalid-query", `stage must be one of ${STAGES.join(", ")}.`);
  if (sort !== undefined && !COMPANY_SORTS.includes(sort as CompanySort))
    throw new Problem("invalid-query", `sort must be one of ${COMPANY_SORTS.join(", ")}.`);
  return {
    stage: stage as Stage | undefined,
    search: parseSearch(search),
    sort: (sort as CompanySort | undefined) ?? "score",
  };
}

function parseSearch(search: string | string[] | undefined): string | undefined {
  if (search === undefined) return undefined;
  if (typeof search === "string" && search !== "" && search.length <= 256 && isDomain(search)) return search;
  throw new Problem("invalid-query", "search must be one text of 1 to 256 characters.");
}

/** An unknown `after` would look like the end of the list. */
async function requireEntry(pg: Postgres, ownerId: string, { after }: Page): Promise<void> {
  if (after === undefined || (await readCompany(pg, { ownerId, domain: after })) !== undefined) return;
  throw new Problem("invalid-query", "after must be the domain of a company of the list.");
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
