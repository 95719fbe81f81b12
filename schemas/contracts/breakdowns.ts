import type { LibraryType } from "../records/artifact.js";

export type BreakdownDeclaration = ValueBreakdown | TotalBreakdown;

/** Counts each day by values of the events. Events whose first value is empty are not counted. */
export interface ValueBreakdown {
  /** As on the wire and in the table `breakdown_values`: lower-case letters and `_`. */
  readonly name: string;
  /** Counts only packages of this type; all packages if absent. */
  readonly libraryType?: LibraryType;
  /** AggregateV1 has it of packages of this type alone; statistics have it of all. */
  readonly exportedFor?: LibraryType;
  readonly title: string;
  /** In the order of the answer's rows. */
  readonly values: Values;
  /** A map of `events`: an event counts once for each of its keys, with the value that the key has. */
  readonly map?: "variables";
  /** Its values are versions: statistics group them on request, and order those of equal counts, the newest first. */
  readonly isOfVersions?: true;
}

type Values = readonly [BreakdownValue] | readonly [BreakdownValue, BreakdownValue];

export interface BreakdownValue {
  /** In `events`, from which it is counted; those of a map are not columns. */
  readonly column: string;
  /** On the wire, in every format. No two breakdowns share one. */
  readonly field: string;
  /** Absent from a line if it is empty. */
  readonly optional?: true;
  /** The query parameter with which statistics count only events with this value; none if absent. */
  readonly filter?: string;
  readonly description?: string;
}

/** Counts each day as a whole, and the addresses of its downloads. */
export interface TotalBreakdown {
  readonly name: string;
  readonly title: string;
  /** The number of addresses, on the wire. */
  readonly addressField: string;
}

/** Of `events`. */
export const VERSION_COLUMN = "package_version";

/**
 * Every breakdown of AggregateV1: the export, the API document and the demo derive from it. Append new ones,
 * because the order is that of the columns.
 */
export const BREAKDOWN_LIST = [
  {
    name: "company",
    title: "Downloads by company",
    values: [
      { column: "company", field: "company_name", filter: "company_name" },
      { column: "company_domain", field: "company_domain", optional: true, filter: "company_domain" },
    ],
  },
  {
    name: "cloud_provider",
    title: "Downloads by cloud provider",
    values: [
      { column: "cloud_provider", field: "cloud_provider_name", filter: "cloud_provider" },
      { column: "cloud_provider_domain", field: "cloud_provider_domain", optional: true },
    ],
  },
  {
    name: "country",
    title: "Downloads by country",
    values: [{ column: "country", field: "country", filter: "country" }],
  },
  {
    name: "platform",
    title: "Downloads by platform",
    values: [{ column: "platform", field: "platform", filter: "platform" }],
  },
  {
    name: "version",
    isOfVersions: true,
    exportedFor: "docker",
    title: "Downloads by version",
    values: [{ column: VERSION_COLUMN, field: "version", filter: "version" }],
  },
  {
    name: "client",
    title: "Downloads by client",
    values: [
      { column: "client", field: "client", filter: "client" },
      { column: "client_version", field: "client_version", optional: true, filter: "client_version" },
    ],
  },
  {
    name: "variable",
    map: "variables",
    libraryType: "other",
    title: "Downloads by custom variable",
    values: [
      { column: "variable", field: "variable", description: "Name of a variable. Only for file packages" },
      { column: "value", field: "value", description: "The variable's value" },
    ],
  },
  {
    name: "total",
    title: "Downloads and unique IP addresses by day",
    addressField: "unique_total",
  },
] as const satisfies readonly BreakdownDeclaration[];

/** More than there are countries, 249: a map shows all of them. */
export const COUNTRIES_MAX = 300;

/** Values of events with the number of downloads, or views, that each has. */
export interface StatisticsList extends Pick<
  ValueBreakdown,
  "name" | "title" | "values" | "libraryType" | "map" | "isOfVersions"
> {
  /** Pages are viewed, all else is downloaded; statistics of one pixel count its views in every list. */
  readonly counts: "downloads" | "views";
}

const PAGES: StatisticsList = {
  name: "page",
  title: "Page views by page",
  counts: "views",
  values: [
    { column: "referer", field: "page", filter: "page", description: "URL of the page that shows the pixel" },
  ],
};

/** The lists of statistics: a breakdown of AggregateV1 is one by itself. */
export const STATISTICS_LISTS: readonly StatisticsList[] = [...listsOf(BREAKDOWN_LIST), PAGES];

/** The list of a name that the program knows. Throws where it knows none. */
export function listNamed(name: string): StatisticsList {
  const list = STATISTICS_LISTS.find((each) => each.name === name);
  if (list === undefined) throw new Error(`unknown list ${name}`);
  return list;
}

export function listsOf(breakdowns: readonly BreakdownDeclaration[]): StatisticsList[] {
  return breakdowns.flatMap((each) => ("values" in each ? [{ ...each, counts: "downloads" as const }] : []));
}

/** Columns of `events` by the query parameter that filters by them. */
export const FILTER_COLUMNS: ReadonlyMap<string, string> = new Map(
  STATISTICS_LISTS.flatMap(({ values }) =>
    values.flatMap(({ filter, column }) => (filter === undefined ? [] : [[filter, column] as const])),
  ),
);
