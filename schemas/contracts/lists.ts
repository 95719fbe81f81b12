import { BREAKDOWN_LIST, type BreakdownDeclaration, type BreakdownValue } from "./breakdowns.js";
import type { LibraryType } from "../records/artifact.js";

/** More than there are countries, 249: a map shows all of them. */
export const COUNTRIES_MAX = 300;

/** Values of events with the number of downloads, or views, that each has. */
export interface StatisticsList {
  /** On the wire: the name of a breakdown of AggregateV1, or `page`. */
  readonly name: string;
  readonly question: string;
  /** Pages are viewed, all else is downloaded; statistics of one pixel count its views in every list. */
  readonly counts: "downloads" | "views";
  readonly values: readonly [BreakdownValue, ...BreakdownValue[]];
  /** The table of its daily sums; absent where there is none. */
  readonly table?: string;
  /** Counts only packages of this type. */
  readonly libraryType?: LibraryType;
}

const PAGES: StatisticsList = {
  name: "page",
  question: "Which pages?",
  counts: "views",
  values: [
    { column: "referer", field: "page", filter: "page", description: "The page that shows the pixel" },
  ],
};

/** The lists of statistics: a breakdown of AggregateV1 is one by itself. */
export const STATISTICS_LISTS: readonly StatisticsList[] = [...listsOf(BREAKDOWN_LIST), PAGES];

export function listsOf(breakdowns: readonly BreakdownDeclaration[]): StatisticsList[] {
  return breakdowns.flatMap((each) => ("values" in each ? [{ ...each, counts: "downloads" as const }] : []));
}

/** Columns of `events` by the query parameter that filters by them. */
export const FILTER_COLUMNS: ReadonlyMap<string, string> = new Map(
  STATISTICS_LISTS.flatMap(({ values }) =>
    values.flatMap(({ filter, column }) => (filter === undefined ? [] : [[filter, column] as const])),
  ),
);
