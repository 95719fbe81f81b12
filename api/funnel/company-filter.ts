import type { ParsedUrlQuery } from "node:querystring";
import { STAGE } from "../../schemas/contracts/funnel.js";
import { DATE, isCalendarDate } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import { STAGES, type Stage } from "../../schemas/records/funnel.js";
import { COMPANY_SORTS, type CompanyFilter, type CompanySort } from "./funnel-companies.js";

export interface ListFilter extends CompanyFilter {
  /** Id or name. */
  package: string | undefined;
  days: number | undefined;
}

const DAYS_MAX = 90;
const SEARCHES_MAX = 20;

export const COMPANY_QUERY = {
  stage: { schema: STAGE, description: "Return only companies at this stage" },
  search: {
    schema: {
      type: "array",
      maxItems: SEARCHES_MAX,
      items: { type: "string", minLength: 1, maxLength: 256 },
    },
    description:
      "Return only companies whose name or domain contains this text, ignoring case. Repeat it to match any " +
      "of several texts",
  },
  sort: {
    schema: { type: "string", enum: COMPANY_SORTS, default: "score" },
    description:
      "Sort order: names from A to Z, everything else in descending order. Equal scores are sorted by " +
      "`downloads_30_days`, other ties by domain",
  },
  package: {
    schema: { type: "string", minLength: 1 },
    description: "Return only companies that have downloaded this package (id or name)",
  },
  first_seen_from: { schema: DATE, description: "Return only companies first seen on or after this UTC day" },
  days: {
    schema: { type: "integer", minimum: 1, maximum: DAYS_MAX },
    description:
      "Add the daily downloads of this many days, up to and including today (JSON and NDJSON only)",
  },
} as const;

/** Accepts every name that a company database can contain, and rejects obvious mistakes. */
export function isDomain(text: string): boolean {
  return text.length <= 1_024 && !/[\0\p{Surrogate}]/u.test(text);
}

export function parseFilter(query: ParsedUrlQuery): ListFilter {
  const { stage, search, sort } = query;
  if (stage !== undefined && !STAGES.includes(stage as Stage))
    throw new Problem("invalid-query", `stage must be one of ${STAGES.join(", ")}.`);
  if (sort !== undefined && !COMPANY_SORTS.includes(sort as CompanySort))
    throw new Problem("invalid-query", `sort must be one of ${COMPANY_SORTS.join(", ")}.`);
  return {
    stage: stage as Stage | undefined,
    search: parseSearch(search),
    firstSeenFrom: parseFirstSeen(query["first_seen_from"]),
    package: parsePackage(query["package"]),
    days: parseDays(query["days"]),
    sort: (sort as CompanySort | undefined) ?? "score",
  };
}

function parseSearch(search: string | string[] | undefined): readonly string[] | undefined {
  if (search === undefined) return undefined;
  const texts = [search].flat();
  const areTexts = texts.every((text) => text !== "" && text.length <= 256 && isDomain(text));
  if (areTexts && texts.length <= SEARCHES_MAX) return texts;
  throw new Problem("invalid-query", `search accepts at most ${SEARCHES_MAX} values of 1 to 256 characters.`);
}

function parseFirstSeen(date: string | string[] | undefined): string | undefined {
  if (date === undefined) return undefined;
  if (typeof date === "string" && isCalendarDate(date)) return date;
  throw new Problem("invalid-date", "first_seen_from must be a date in the form YYYY-MM-DD.");
}

function parsePackage(idOrName: string | string[] | undefined): string | undefined {
  if (idOrName === undefined || (typeof idOrName === "string" && idOrName !== "")) return idOrName;
  throw new Problem("invalid-query", "package must be the id or name of a single package.");
}

function parseDays(days: string | string[] | undefined): number | undefined {
  if (days === undefined) return undefined;
  if (typeof days === "string" && /^\d{1,2}$/.test(days) && Number(days) >= 1 && Number(days) <= DAYS_MAX)
    return Number(days);
  throw new Problem("invalid-query", `days must be a whole number from 1 to ${DAYS_MAX}.`);
}
