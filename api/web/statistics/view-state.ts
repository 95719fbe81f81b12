import { FILTER_COLUMNS } from "../../../schemas/contracts/breakdowns.js";
import {
  type Automation,
  COMPARISONS,
  type Comparison,
  INTERVALS,
  type Interval,
  RANGE_LIMITS,
  VARIABLE,
  VERSION_GROUPINGS,
  type VersionGrouping,
  isComparedDay,
} from "../../../schemas/contracts/statistics.js";
import { daysBetween } from "../../../schemas/date-range.js";
import { type Query } from "../address.js";
import type { Visit } from "../page.js";
import { readRange } from "./page-range.js";

/** The state of a page of statistics. All of it is in the page's address, in the parameters of the API. */
export interface ViewState {
  startDate: string;
  /** The first day that is left out. */
  endDate: string;
  interval: Interval;
  compare: Comparison;
  automated: Automation;
  versions: VersionGrouping;
  filters: readonly ViewFilter[];
  /** The series that is drawn. Of the page only. */
  metric: Metric;
}

export interface ViewFilter {
  /** A parameter of the API: `country`, `variable.mirror`. */
  name: string;
  /** Empty: not known. */
  value: string;
}

const METRICS = ["downloads", "unique_addresses", "views"] as const;
export type Metric = (typeof METRICS)[number];

/** Above it, days are too narrow to be seen. */
const DAYS_BY_DAY_MAX = 93;

interface ReadsState {
  now?: Date;
  /** What the page can draw. */
  intervals?: readonly Interval[];
}

export function readState(
  { query }: Pick<Visit, "query">,
  { now = new Date(), intervals = INTERVALS }: ReadsState = {},
): ViewState {
  const range = readRange(query, now);
  const drawable = intervalsFor(range, intervals);
  return {
    ...range,
    interval: oneOf(drawable, query.get("interval")) ?? usualInterval(range, drawable),
    compare: comparisonIn(query) ?? "previous-weekdays",
    automated: query.get("automated") === "exclude" ? "exclude" : "include",
    versions: oneOf(VERSION_GROUPINGS, query.get("versions")) ?? "exact",
    filters: [...query].flatMap(([name, value]) => (isFilter(name) ? [{ name, value }] : [])),
    metric: oneOf(METRICS, query.get("metric")) ?? "downloads",
  };
}

function comparisonIn(query: URLSearchParams): Comparison | undefined {
  const text = query.get("compare");
  return text !== null && isComparedDay(text) ? text : oneOf(COMPARISONS, text);
}

type Days = Pick<ViewState, "startDate" | "endDate">;

/** Those of the page that the days allow: a few days by hour, and no few days by week. */
export function intervalsFor(range: Days, intervals: readonly Interval[] = INTERVALS): readonly Interval[] {
  const isShort = daysOf(range) <= RANGE_LIMITS.hoursDaysMax;
  return intervals.filter((each) => each === "day" || (each === "hour") === isShort);
}

function usualInterval(range: Days, drawable: readonly Interval[]): Interval {
  if (daysOf(range) > DAYS_BY_DAY_MAX) return "week";
  return daysOf(range) === 1 && drawable.includes("hour") ? "hour" : "day";
}

export function queryOf({ metric: _, filters, versions, ...state }: ViewState): Query {
  const named = new Map<string, string[]>();
  for (const { name, value } of filters) named.set(name, [...(named.get(name) ?? []), value]);
  return { ...state, ...(versions !== "exact" && { versions }), ...Object.fromEntries(named) };
}

/** The address of the same page with other parameters; undefined removes one. Its place in a list is forgotten. */
export function linkWith(visit: Visit, changes: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(visit.query);
  for (const name of ["after", "notice"]) query.delete(name);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  return addressWith(visit, query);
}

/** The address of the same page with these filters added, or without them if all of them are set. */
export function linkToggling(visit: Visit, filters: readonly ViewFilter[]): string {
  const query = new URLSearchParams(visit.query);
  for (const name of ["after", "notice"]) query.delete(name);
  const isSet = filters.every(({ name, value }) => query.has(name, value));
  for (const { name, value } of filters)
    if (isSet) query.delete(name, value);
    else if (!query.has(name, value)) query.append(name, value);
  return addressWith(visit, query);
}

function addressWith({ here, href }: Visit, query: URLSearchParams): string {
  const address = href(here);
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}

export function isFilter(name: string): boolean {
  return FILTER_COLUMNS.has(name) || name.startsWith(VARIABLE);
}

export function daysOf({ startDate, endDate }: Days): number {
  return daysBetween(startDate, endDate);
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}
