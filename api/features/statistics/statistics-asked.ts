import type { ParsedUrlQuery } from "node:querystring";
import type { Filter } from "../../../aggregate/statistics/statistics-query.js";
import { FILTER_COLUMNS } from "../../../schemas/contracts/breakdowns.js";
import {
  type Automation,
  COMPARISONS,
  type Comparison,
  type Interval,
  RANGE_LIMITS,
  VARIABLE,
  type VersionGrouping,
  isComparedDay,
} from "../../../schemas/contracts/statistics.js";
import { type DateRange, parseOptionalDateRange } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import { VARIABLES_MAX } from "../../../schemas/records/import-line.js";
import { type PackageCall, packageTypeOf } from "../packages/packages.js";
import { type Compared, comparedRanges } from "./compared-ranges.js";

export const ROWS = { default: 10, max: 100 } as const;

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

/** The parameters that some operation of statistics has. */
export interface StatisticsSent {
  readonly startDate: string | undefined;
  readonly endDate: string | undefined;
  readonly package: string | undefined;
  readonly packageType: PackageCall["query"]["packageType"];
  readonly pixel?: string | undefined;
  readonly compare?: string;
  readonly automated: Automation;
  readonly versions: VersionGrouping;
  readonly interval?: Interval;
  readonly limit?: number;
}

/** `query` has the filters. Throws `invalid-query`, `invalid-date`, `empty-range`, `range-too-long`. */
export function statisticsAsked(
  { compare = "none", interval = "day", limit = ROWS.default, pixel, ...sent }: StatisticsSent,
  { query, now }: { query: ParsedUrlQuery; now: Date },
): StatisticsAsked {
  const filters = filtersOf(query);
  const daysMax = daysMaxOf({ filters, interval });
  const range = parseOptionalDateRange(sent, { daysMax, daysDefault: RANGE_LIMITS.daysDefault, now });
  if (sent.package !== undefined && pixel !== undefined)
    throw new Problem("invalid-query", "package and pixel cannot be combined.");
  return {
    range,
    ...comparedRanges(range, { comparison: comparisonOf(compare), interval, now }),
    interval,
    limit,
    filters,
    automated: sent.automated,
    versions: sent.versions,
    package: sent.package,
    packageType: packageTypeOf(sent),
    pixel,
  };
}

function daysMaxOf({ filters, interval }: Pick<StatisticsAsked, "filters" | "interval">): number {
  if (interval === "hour") return RANGE_LIMITS.hoursDaysMax;
  return filters.length === 0 ? RANGE_LIMITS.daysMax : RANGE_LIMITS.filteredDaysMax;
}

export function comparisonOf(compare: string): Comparison {
  return isComparedDay(compare) ? compare : (COMPARISONS.find((each) => each === compare) ?? "none");
}

function isVariable(name: string): boolean {
  return name.startsWith(VARIABLE) && name.length > VARIABLE.length;
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
