import type { FromSchema } from "json-schema-to-ts";
import { RANGE_DAYS_MAX } from "../date-range.js";
import { COUNT, DATE, TIMESTAMP, isCalendarDate, objectOf, titledObject } from "../formats.js";
import { STATISTICS_LISTS, type StatisticsList } from "./breakdowns.js";

/** Limits of the range of statistics, in days. */
export const RANGE_LIMITS = {
  daysDefault: 30,
  daysMax: RANGE_DAYS_MAX,
  filteredDaysMax: 93,
  hoursDaysMax: 3,
} as const;

/** Prefix of query parameters that filter by a variable of events. */
export const VARIABLE = "variable.";

/** Relative to the comparison period: 0.5 means +50 %. Null if that period has nothing to compare with. */
export function changeOf(count: number, before: number): number | null {
  return before > 0 ? (count - before) / before : null;
}

/** Buckets of days, which the daily tables can answer. */
export const DAYS_INTERVALS = ["day", "week", "month"] as const;
export const INTERVALS = ["hour", ...DAYS_INTERVALS] as const;
export type Interval = (typeof INTERVALS)[number];

/**
 * `previous`: as many days right before. `year`: as many days, from the same date a year before. With `-weekdays`: whole
 * weeks before, and without the days that are not over.
 */
export const COMPARISONS = ["none", "previous", "year", "previous-weekdays", "year-weekdays"] as const;
export type Comparison = (typeof COMPARISONS)[number] | ComparedDay;

/** The first day of as many as the range has, less the days that are not over. */
export type ComparedDay = `${number}-${number}-${number}`;

export function isComparedDay(text: string): text is ComparedDay {
  return isCalendarDate(text);
}

/** Whether downloads and views of bots, continuous integration and mirrors count. */
export const AUTOMATED = ["include", "exclude"] as const;
export type Automation = (typeof AUTOMATED)[number];

/** `1.4.2` is in the group `1.4.x` by minor, and in `1.x` by major. */
export const VERSION_GROUPINGS = ["exact", "minor", "major"] as const;
export type VersionGrouping = (typeof VERSION_GROUPINGS)[number];

/** The fields of its breakdown, `downloads` or `views`, and: */
export interface StatisticsRow {
  [field: string]: string | number | null;
  /** The share in the range's total, from 0 to 1. */
  share: number;
  /** Against the range before: 0.5 is half as many again; null without one, or without a count in it. */
  change: number | null;
}

interface Period {
  start_date: string;
  /** The first day that is left out. */
  end_date: string;
}

export interface Statistics extends Period {
  interval: Interval;
  complete_through: string;
  /** Numbers of earlier days of the range are missing, because their events are no longer kept. Absent if none are. */
  events_from?: string;
  totals: StatisticsTotals;
  compare?: ComparedPeriod;
  series: StatisticsBucket[];
  breakdowns: Record<string, StatisticsRow[]>;
}

export interface StatisticsListPage extends Period {
  complete_through: string;
  events_from?: string;
  compare?: Period;
  rows: StatisticsRow[];
  next?: string;
}

const TOTALS = titledObject("StatisticsTotals", ["downloads", "views", "unique_addresses", "companies"], {
  downloads: COUNT,
  views: COUNT,
  unique_addresses: { ...COUNT, description: "Exact number of distinct IP addresses in the whole range" },
  companies: { ...COUNT, description: "Companies with at least one download or view" },
});
export type StatisticsTotals = FromSchema<typeof TOTALS>;

const BUCKET = titledObject("StatisticsBucket", ["date", "downloads", "views", "unique_addresses"], {
  date: { ...DATE, description: "First day of the bucket within the range" },
  time: { ...TIMESTAMP, description: "Start of the hour. Only with `interval=hour`" },
  downloads: COUNT,
  views: COUNT,
  unique_addresses: { ...COUNT, description: "Exact number of distinct IP addresses in the bucket" },
});
export type StatisticsBucket = FromSchema<typeof BUCKET>;

const SERIES = { type: "array", items: BUCKET } as const;

const PERIOD = {
  start_date: DATE,
  end_date: { ...DATE, description: "End of the range (exclusive)" },
} as const;

const COMPLETE_THROUGH = {
  ...TIMESTAMP,
  description:
    "Everything imported before this time is included, as with the header `X-Complete-Through` " +
    "of exports",
} as const;

const EVENTS_FROM = {
  ...DATE,
  description:
    "Only with filters or views, because these are counted from events. Events before this day have " +
    "expired, so earlier days of the range and of the comparison period have no numbers. Absent if all " +
    "days are complete",
} as const;

const COMPARED_PERIOD = objectOf(["start_date", "end_date", "totals", "series"], {
  ...PERIOD,
  of: {
    ...objectOf(["start_date", "end_date", "totals"], { ...PERIOD, totals: TOTALS }),
    description:
      "The days of the range that are compared. Only if the range ends with unfinished days; absent " +
      "if all days are compared",
  },
  totals: TOTALS,
  series: SERIES,
});
export type ComparedPeriod = FromSchema<typeof COMPARED_PERIOD>;

function rowProperties(lists: readonly StatisticsList[]) {
  const fields = lists.flatMap(({ values }) => values);
  return {
    ...Object.fromEntries(
      fields.map(({ field, description }) => [
        field,
        { type: "string", ...(description !== undefined && { description }) },
      ]),
    ),
    downloads: { type: "integer", minimum: 1 },
    views: { type: "integer", minimum: 1 },
    share: { type: "number", minimum: 0, description: "Share of all downloads, or views, of the range" },
    change: {
      type: ["number", "null"],
      description:
        "Change relative to the comparison period: 0.5 means +50 %. Null without a comparison, or if the " +
        "earlier value is 0",
    },
  };
}

export const STATISTICS_ROW = titledObject(
  "StatisticsRow",
  ["share", "change"],
  rowProperties(STATISTICS_LISTS),
);

export const STATISTICS = titledObject(
  "Statistics",
  ["start_date", "end_date", "interval", "complete_through", "totals", "series", "breakdowns"],
  {
    ...PERIOD,
    interval: { type: "string", enum: INTERVALS },
    complete_through: COMPLETE_THROUGH,
    events_from: EVENTS_FROM,
    totals: TOTALS,
    compare: COMPARED_PERIOD,
    series: { ...SERIES, description: "All buckets of the range, including empty ones" },
    breakdowns: {
      type: "object",
      required: STATISTICS_LISTS.map(({ name }) => name),
      additionalProperties: false,
      properties: Object.fromEntries(
        STATISTICS_LISTS.map(({ name, title }) => [
          name,
          { type: "array", items: STATISTICS_ROW, description: title },
        ]),
      ),
    },
  },
);

export const STATISTICS_LIST_PAGE = titledObject(
  "StatisticsListPage",
  ["start_date", "end_date", "complete_through", "rows"],
  {
    ...PERIOD,
    complete_through: COMPLETE_THROUGH,
    events_from: EVENTS_FROM,
    compare: objectOf(["start_date", "end_date"], PERIOD),
    rows: { type: "array", items: STATISTICS_ROW, description: "Rows, largest first" },
    next: { type: "string", format: "uri", description: "URL of the next page. Absent on the last page" },
  },
);

const PACKAGE_DOWNLOADS = titledObject(
  "PackageDownloads",
  ["package", "name", "downloads", "change", "days"],
  {
    package: { type: "string", format: "uuid" },
    name: { type: "string" },
    downloads: COUNT,
    change: {
      type: ["number", "null"],
      description:
        "Change relative to the days of `compare`: 0.5 means +50 %. Null if the earlier value is 0",
    },
    days: { type: "array", items: COUNT, description: "Daily downloads of the range" },
  },
);
export type PackageDownloads = FromSchema<typeof PACKAGE_DOWNLOADS>;

export const PACKAGE_STATISTICS = titledObject(
  "PackageStatistics",
  ["start_date", "end_date", "complete_through", "packages"],
  {
    start_date: DATE,
    end_date: { ...DATE, description: "End of the range (exclusive)" },
    complete_through: TIMESTAMP,
    packages: { type: "array", items: PACKAGE_DOWNLOADS, description: "Packages, most downloaded first" },
  },
);
export type PackageStatistics = FromSchema<typeof PACKAGE_STATISTICS>;
