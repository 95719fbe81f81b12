import { FILTER_COLUMNS, STATISTICS_LISTS } from "../../../schemas/contracts/breakdowns.js";
import {
  AUTOMATED,
  COMPARISONS,
  INTERVALS,
  type Interval,
  RANGE_LIMITS,
  STATISTICS,
  STATISTICS_LIST_PAGE,
  type Statistics,
  type StatisticsListPage,
  VARIABLE,
  VERSION_GROUPINGS,
  type VersionGrouping,
} from "../../../schemas/contracts/statistics.js";
import { DATE } from "../../../schemas/formats.js";
import type { ProblemCode } from "../../../schemas/problem.js";
import { parsePosition } from "./answer-list.js";
import { PAGE_QUERY } from "../../base/http/answers/paging.js";
import { PACKAGE_QUERY } from "../packages/packages.js";
import type { Parameter, Parameters } from "../../base/http/answers/query-parameters.js";
import type { Operation } from "../../base/http/route.js";
import { ROWS } from "./statistics-asked.js";

const TEXT = { type: "string" } as const;
const NAMES = STATISTICS_LISTS.map(({ name }) => name);

const FILTERS: Parameters = Object.fromEntries(
  [...FILTER_COLUMNS.keys()].map((name) => [
    name,
    {
      schema: { type: "array", items: TEXT },
      description:
        "Count only events with this value. Repeat the parameter to match any of several values. An empty value matches " +
        "events without one",
    },
  ]),
);

export const AUTOMATED_PARAMETER = {
  schema: { type: "string", enum: AUTOMATED, default: "include" },
  description: "Whether downloads and views by bots, continuous integration and mirrors are counted",
} as const satisfies Parameter;

export const COMPARE_PARAMETER = {
  schema: { type: "string", anyOf: [{ enum: COMPARISONS }, DATE], default: "none" },
  description:
    "The comparison period. `previous`: the same number of days immediately before the range. `year`: " +
    "the same dates a year earlier. `previous-weekdays`: the same weekdays, moved back by the smallest number of whole " +
    "weeks that avoids an overlap with the range. `year-weekdays`: the same weekdays, 52 weeks earlier (53 if 52 would overlap the " +
    "range). A date: the same number of days, starting on that date; they must end before the range. With " +
    "`-weekdays` or a date, unfinished days are excluded from both periods, and `compare.of` gives the " +
    "compared days",
  sentence: `must be one of ${COMPARISONS.join(", ")}, or a date in the form YYYY-MM-DD`,
} as const satisfies Parameter;

export const STATISTICS_QUERY = {
  startDate: {
    schema: DATE,
    description:
      "Start of the range (UTC day, inclusive). Requires `endDate`. If you omit both, the range is the last " +
      `${RANGE_LIMITS.daysDefault} days, including today`,
    example: "2026-11-01",
  },
  endDate: {
    schema: DATE,
    description:
      `End of the range (UTC day, exclusive); at most ${RANGE_LIMITS.daysMax} days after startDate, ` +
      `${RANGE_LIMITS.filteredDaysMax} with filters`,
    example: "2026-12-01",
  },
  package: { schema: TEXT, description: "Count only this package (id or name)" },
  ...PACKAGE_QUERY,
  pixel: { schema: TEXT, description: "Count only this pixel (id or name). All lists then count views" },
  compare: COMPARE_PARAMETER,
  automated: AUTOMATED_PARAMETER,
  versions: versionsParameter("exact"),
  ...FILTERS,
} as const satisfies Parameters;

export function versionsParameter(grouping: VersionGrouping) {
  return {
    schema: { type: "string", enum: VERSION_GROUPINGS, default: grouping },
    description:
      "How versions are grouped. `minor` counts `1.4.2` as `1.4.x`, `major` counts it as `1.x`. " +
      "Pre-releases belong to the group of their numbers; versions without a number, such as `latest`, " +
      "are not grouped. Ties are sorted newest first, or alphabetically if there are more than 1,000",
  } as const satisfies Parameter;
}

export function intervalParameter<const Each extends Interval>(interval: Each, intervals: readonly Each[]) {
  const hours = intervals.some((each) => each === "hour") ? HOURS : "";
  return {
    schema: { type: "string", enum: intervals, default: interval },
    description:
      "Bucket size of the series. Weeks start on Monday (ISO 8601). The first and the last bucket are cut at " +
      `the ends of the range${hours}`,
  } as const satisfies Parameter;
}

const HOURS =
  `. With \`hour\`, the range can have at most ${RANGE_LIMITS.hoursDaysMax} days, numbers are computed from individual events, ` +
  "each bucket has a `time`, and the comparison period ends at the current time of day";

const DESCRIPTION =
  "Packages you are blocked from, and their pixels, are never counted. Users without a role who have " +
  "access to individual packages see the statistics of those packages only. Repeat a filter to match any of " +
  "several values; an event must match all filters. `version` also accepts a group such as `1.4.x`, which " +
  "always means the group. `variable.<name>=<value>` filters by a variable of the events; at most 64 " +
  "variables can be used. Without filters, the numbers equal the aggregates for the same range. With filters, " +
  "they are computed from events and exclude replaced events immediately.";

export const CSV_IS_EXPORT =
  "CSV is an export: data export must be enabled for the owner, and you need permission to export the " +
  "owner's data or, with `package=`, the package's data.";
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

export const READ_STATISTICS = {
  id: "readStatistics",
  summary: "Get statistics of an owner, package or pixel",
  description: `${DESCRIPTION}\n\nCSV contains the series only. ${CSV_IS_EXPORT}`,
  query: {
    ...STATISTICS_QUERY,
    interval: intervalParameter("day", INTERVALS),
    limit: {
      schema: { type: "integer", minimum: 1, maximum: ROWS.max, default: ROWS.default },
      description: "Maximum number of rows per list",
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
} as const satisfies Operation;

const LIST_EXAMPLE: StatisticsListPage = { ...RANGE, ...COMPLETE, rows: [ROW] };

export const READ_STATISTICS_LIST = {
  id: "readStatisticsList",
  summary: "Get one list of the statistics in full",
  description: `${DESCRIPTION}\n\n${CSV_IS_EXPORT}`,
  path: {
    breakdown: {
      schema: { type: "string", enum: NAMES },
      description: "Name of the list",
      example: "country",
    },
  },
  query: {
    ...STATISTICS_QUERY,
    search: {
      schema: { type: "string", minLength: 1, maxLength: 256 },
      description: "Return only rows with a value that contains this text, ignoring case",
      sentence: "must be a single text of 1 to 256 characters",
    },
    after: {
      schema: TEXT,
      description: "Return rows after this one. Use the value of `next` from the previous page",
      sentence: "must be the id of an entry in the list",
      allows: (text) => parsePosition(text) !== undefined,
    },
    per_page: {
      ...PAGE_QUERY.per_page,
      description: "Maximum number of rows. If omitted, CSV contains all rows",
    },
  },
  queryPrefix: VARIABLE,
  answers: {
    200: {
      description: "A page of rows",
      schema: STATISTICS_LIST_PAGE,
      example: LIST_EXAMPLE,
      others: {
        "text/csv": {
          schema: TEXT,
          example: "country,downloads,share,change\nDE,752,0.143,0.25\n",
        },
      },
      headers: {
        Link: {
          schema: { type: "string" },
          description: 'URL of the next page, as `<...>; rel="next"`. Absent on the last page',
        },
      },
    },
  },
  problems: STATISTICS_PROBLEMS,
} as const satisfies Operation;
