import type { ParsedUrlQuery } from "node:querystring";
import type { Filter } from "../../aggregate/statistics/statistics-query.js";
import { FILTER_COLUMNS } from "../../schemas/contracts/breakdowns.js";
import {
  AUTOMATED,
  type Automation,
  COMPARISONS,
  type Comparison,
  DAYS_INTERVALS,
  INTERVALS,
  type Interval,
  VERSION_GROUPINGS,
  type VersionGrouping,
  isComparedDay,
} from "../../schemas/contracts/statistics.js";
import { type DateRange, RANGE_DAYS_MAX, parseOptionalDateRange } from "../../schemas/date-range.js";
import { Problem } from "../../schemas/problem.js";
import type { LibraryType } from "../../schemas/records/artifact.js";
import { VARIABLES_MAX } from "../../schemas/records/import-line.js";
import { parsePackageType } from "../packages/packages.js";
import { type Compared, comparedRanges } from "./compared-ranges.js";

export const RANGE_LIMITS = {
  daysDefault: 30,
  daysMax: RANGE_DAYS_MAX,
  filteredDaysMax: 93,
  hoursDaysMax: 3,
} as const;
export const ROWS = { default: 10, max: 100 } as const;
export const VARIABLE = "variable.";

/** The query of statistics, before it is known whether there is such a package. */
export interface StatisticsAsked extends Compared {
  range: DateRange;
  interval: Interval;
  limit: number;
  filters: Filter[];
  automated: Automation;
  versions: VersionGrouping;
  /** Id or name. */
  package: string | undefined;
  packageType: LibraryType | undefined;
  /** Id or name. */
  pixel: string | undefined;
}

const ONCE = ["package", "packageType", "pixel", "compare", "automated", "versions"] as const;

export const OWN_PARAMETERS = {
  all: ["interval", "limit"],
  list: ["search", "after", "per_page"],
  adoption: ["interval"],
} as const;

const DEFAULTS: Readonly<
  Record<keyof typeof OWN_PARAMETERS, Pick<StatisticsAsked, "interval" | "versions">>
> = {
  all: { interval: "day", versions: "exact" },
  list: { interval: "day", versions: "exact" },
  adoption: { interval: "week", versions: "minor" },
};

/** Throws `invalid-query`, `invalid-date`, `empty-range`, `range-too-long`. */
export function parseStatisticsQuery(
  query: ParsedUrlQuery,
  { of, now }: { of: keyof typeof OWN_PARAMETERS; now: Date },
): StatisticsAsked {
  const once = [...ONCE, ...OWN_PARAMETERS[of]];
  const texts = Object.fromEntries(once.map((name) => [name, onceOf(query, name)]));
  const filters = filtersOf(query);
  const interval = oneOf("interval", texts["interval"], INTERVALS_OF[of]) ?? DEFAULTS[of].interval;
  const daysMax = daysMaxOf({ filters, interval });
  const range = parseOptionalDateRange(query, { daysMax, daysDefault: RANGE_LIMITS.daysDefault, now });
  if (texts["package"] !== undefined && texts["pixel"] !== undefined)
    throw new Problem("invalid-query", "package and pixel cannot be combined.");
  return {
    range,
    ...comparedRanges(range, { comparison: parseComparison(texts["compare"]) ?? "none", interval, now }),
    interval,
    limit: parseLimit(texts["limit"]),
    filters,
    automated: parseAutomated(texts["automated"]),
    versions: oneOf("versions", texts["versions"], VERSION_GROUPINGS) ?? DEFAULTS[of].versions,
    package: texts["package"],
    packageType: parsePackageType(query),
    pixel: texts["pixel"],
  };
}

const INTERVALS_OF = { all: INTERVALS, list: DAYS_INTERVALS, adoption: DAYS_INTERVALS } as const;

function daysMaxOf({ filters, interval }: Pick<StatisticsAsked, "filters" | "interval">): number {
  if (interval === "hour") return RANGE_LIMITS.hoursDaysMax;
  return filters.length === 0 ? RANGE_LIMITS.daysMax : RANGE_LIMITS.filteredDaysMax;
}

/** @throws Problem invalid-query */
export function parseComparison(text: string | undefined): Comparison | undefined {
  const known = COMPARISONS.find((each) => each === text);
  if (text === undefined || known !== undefined) return known;
  if (isComparedDay(text)) return text;
  throw new Problem(
    "invalid-query",
    `compare must be one of ${COMPARISONS.join(", ")}, or a date in the form YYYY-MM-DD.`,
  );
}

/** @throws Problem invalid-query */
export function parseAutomated(text: string | undefined): Automation {
  return oneOf("automated", text, AUTOMATED) ?? "include";
}

function isVariable(name: string): boolean {
  return name.startsWith(VARIABLE) && name.length > VARIABLE.length;
}

export function onceOf(query: ParsedUrlQuery, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw new Problem("invalid-query", `${name} can be given only once.`);
}

function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  values: readonly T[],
): T | undefined {
  if (text === undefined || values.includes(text as T)) return text as T | undefined;
  throw new Problem("invalid-query", `${name} must be one of ${values.join(", ")}.`);
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return ROWS.default;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= ROWS.max) return limit;
  throw new Problem("invalid-query", `limit must be a whole number from 1 to ${ROWS.max}.`);
}

/**
 * Values of one parameter are alternatives; an empty one means that it is not known. Each variable is a parameter of the
 * query to ClickHouse, which takes about a thousand. @throws Problem invalid-query
 */
function filtersOf(query: ParsedUrlQuery): Filter[] {
  const variables = Object.keys(query).filter(isVariable);
  if (variables.length > VARIABLES_MAX)
    throw new Problem(
      "invalid-query",
      `The query filters by ${variables.length} variables; the maximum is ${VARIABLES_MAX}.`,
    );
  return Object.entries(query).flatMap(([name, value = ""]): Filter[] => {
    const column = FILTER_COLUMNS.get(name);
    const values = typeof value === "string" ? [value] : value;
    if (column !== undefined) return [{ column, values }];
    return isVariable(name) ? [{ variable: name.slice(VARIABLE.length), values }] : [];
  });
}
