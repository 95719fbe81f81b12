import { FILTER_COLUMNS, STATISTICS_LISTS } from "../../schemas/contracts/breakdowns.js";
import {
  AUTOMATED,
  COMPARISONS,
  INTERVALS,
  type Interval,
  STATISTICS,
  STATISTICS_LIST_PAGE,
  type Statistics,
  type StatisticsListPage,
  VERSION_GROUPINGS,
  type VersionGrouping,
} from "../../schemas/contracts/statistics.js";
import { DATE } from "../../schemas/formats.js";
import type { ProblemCode } from "../../schemas/problem.js";
import { PAGE_QUERY } from "../http/answers/paging.js";
import { PACKAGE_QUERY } from "../packages/packages.js";
import type { Operation, Parameter } from "../http/route.js";
import { RANGE_LIMITS, ROWS, VARIABLE } from "./parse-statistics-query.js";

const TEXT = { type: "string" };
const NAMES = STATISTICS_LISTS.map(({ name }) => name);

const FILTERS: Record<string, Parameter> = Object.fromEntries(
  [...FILTER_COLUMNS.keys()].map((name) => [
    name,
    {
      schema: { type: "array", items: TEXT },
      description: "Only events with this value, or one of several; empty: only events without one",
    },
  ]),
);

export const AUTOMATED_PARAMETER: Parameter = {
  schema: { type: "string", enum: AUTOMATED, default: "include" },
  description: "Whether requests of bots, continuous integration and mirrors are counted",
};

export const COMPARE_PARAMETER = {
  schema: { type: "string", anyOf: [{ enum: COMPARISONS }, DATE], default: "none" },
  description:
    "With as many days right before (`previous`), or from the same date a year before (`year`). With `-weekdays`: as few " +
    "whole weeks before (`previous-weekdays`), or 52 (`year-weekdays`, 53 where the range needs them), so that weekdays stand " +
    "beside weekdays; days that are not over count on neither side, and `compare.of` says which days are compared. With a " +
    "date: as many days from it, which end before the range; days that are not over count on neither side",
} satisfies Parameter;

export const STATISTICS_QUERY: Record<string, Parameter> = {
  startDate: {
    schema: DATE,
    description: `The first UTC day, given with \`endDate\`; by default the last ${RANGE_LIMITS.daysDefault} days are counted, today included`,
    example: "2026-11-01",
  },
  endDate: {
    schema: DATE,
    description:
      `The first UTC day that is left out; at most ${RANGE_LIMITS.daysMax} days later, ` +
      `with any filter ${RANGE_LIMITS.filteredDaysMax}`,
    example: "2026-12-01",
  },
  package: { schema: TEXT, description: "Only this package, by id or name" },
  ...PACKAGE_QUERY,
  pixel: { schema: TEXT, description: "Only this pixel, by id or name: every list then counts views" },
  compare: COMPARE_PARAMETER,
  automated: AUTOMATED_PARAMETER,
  versions: versionsParameter("exact"),
  ...FILTERS,
};

export function versionsParameter(grouping: VersionGrouping): Parameter {
  return {
    schema: { type: "string", enum: VERSION_GROUPINGS, default: grouping },
    description:
      "How versions are grouped: by minor, `1.4.2` is in `1.4.x`; by major, in `1.x`. Pre-releases are in the group of " +
      "their numbers; a version without a number, such as `latest`, stands for itself. Versions of equal counts are in " +
      "their order, the newest first, and more than 1,000 of them in that of their text",
  };
}

export function intervalParameter(interval: Interval, intervals: readonly Interval[]): Parameter {
  const hours = intervals.includes("hour") ? HOURS : "";
  return {
    schema: { type: "string", enum: intervals, default: interval },
    description:
      hours +
      "The buckets of the series. Weeks begin on Monday (ISO 8601). The first and the last are cut at the ends of the range",
  };
}

const HOURS =
  `\`hour\` takes at most ${RANGE_LIMITS.hoursDaysMax} days, counts the events themselves, and gives each bucket its \`time\`; a ` +
  "compared range then ends at the time of day that it is now. ";

const DESCRIPTION =
  "Packages that the caller is blocked from are in no number, and neither are their pixels. A caller without a role " +
  "who has a level on packages of the owner gets the numbers of these packages. Every filter can be given several times, which means or; " +
  "several filters mean and. `version` takes a group of versions as well, such as `1.4.x`, and its text always for the group. `variable.<name>=<value>` filters by a variable of the events, by 64 of them at most. Without filters the numbers " +
  "are those of the aggregates for the same range. Filtered numbers show an override as soon as it is there.";

export const CSV_IS_EXPORT =
  "CSV is an export: for those who may export the owner's data or, of `package=`, that package's, and of an owner to " +
  "whom export is granted.";
export const STATISTICS_PROBLEMS: readonly ProblemCode[] = [
  "invalid-date",
  "empty-range",
  "range-too-long",
  "ambiguous-name",
  "forbidden",
  "export-not-granted",
];

const ROW = { country: "DE", downloads: 752, share: 0.143, change: 0.25 };
const RANGE = { start_date: "2026-11-01", end_date: "2026-11-02" };
const COMPLETE = { complete_through: "2026-11-02T03:51:26.021037Z" };
const COUNTS = { downloads: 5259, views: 120, unique_addresses: 2101 };

const EXAMPLE: Statistics = {
  ...RANGE,
  interval: "day",
  ...COMPLETE,
  totals: { ...COUNTS, companies: 41 },
  series: [{ date: "2026-11-01", ...COUNTS }],
  breakdowns: { ...Object.fromEntries(NAMES.map((name) => [name, []])), country: [ROW] },
};

export const READ_STATISTICS: Operation = {
  id: "readStatistics",
  summary: "Totals, a series and the most frequent values of an owner, a package or a pixel",
  description: `${DESCRIPTION}\n\nAs CSV it is the series alone. ${CSV_IS_EXPORT}`,
  query: {
    ...STATISTICS_QUERY,
    interval: intervalParameter("day", INTERVALS),
    limit: {
      schema: { type: "integer", minimum: 1, maximum: ROWS.max, default: ROWS.default },
      description: "Rows of each list at most",
    },
  },
  queryPrefix: VARIABLE,
  answers: {
    200: {
      description: "The statistics",
      schema: STATISTICS,
      example: EXAMPLE,
      others: {
        "text/csv": {
          schema: TEXT,
          example: "date,downloads,views,unique_addresses\n2026-11-01,5259,120,2101\n",
        },
      },
    },
  },
  problems: STATISTICS_PROBLEMS,
};

const LIST_EXAMPLE: StatisticsListPage = { ...RANGE, ...COMPLETE, rows: [ROW] };

export const READ_STATISTICS_LIST: Operation = {
  id: "readStatisticsList",
  summary: "One list of the statistics in full",
  description: `${DESCRIPTION}\n\n${CSV_IS_EXPORT}`,
  path: {
    breakdown: { schema: { type: "string", enum: NAMES }, description: "Which list", example: "country" },
  },
  query: {
    ...STATISTICS_QUERY,
    search: {
      schema: { type: "string", minLength: 1, maxLength: 256 },
      description: "Only rows with this in a value, whatever its case",
    },
    after: { schema: TEXT, description: "Only what comes after this row: from `next` of the page before" },
    per_page: {
      ...PAGE_QUERY["per_page"]!,
      description: "How many rows at most; CSV has them all where it is absent",
    },
  },
  queryPrefix: VARIABLE,
  answers: {
    200: {
      description: "A page of the list",
      schema: STATISTICS_LIST_PAGE,
      example: LIST_EXAMPLE,
      others: {
        "text/csv": {
          schema: TEXT,
          example: "country,downloads,share,change\nDE,752,0.143,0.25\n",
        },
      },
      headers: {
        Link: { schema: { type: "string" }, description: 'The next page, `rel="next"`; absent on the last' },
      },
    },
  },
  problems: STATISTICS_PROBLEMS,
};
