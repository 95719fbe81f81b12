import { COUNTRIES_MAX, FILTER_COLUMNS } from "../../../schemas/contracts/breakdowns.js";
import {
  COMPARISONS,
  type Comparison,
  INTERVALS,
  type Interval,
  type Statistics,
  type StatisticsListPage,
  type StatisticsRow,
  type StatisticsTotals,
} from "../../../schemas/contracts/statistics.js";
import { DAY_MS, lastDays } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { RANGE_LIMITS, VARIABLE } from "../../statistics/parse-statistics-query.js";
import { type Query, path } from "../address.js";
import type { Visit } from "../page.js";

/** The state of a page of statistics. All of it is in the page's address, in the parameters of the API. */
export interface ViewState {
  startDate: string;
  /** The first day that is left out. */
  endDate: string;
  interval: Interval;
  compare: Comparison;
  automated: "include" | "exclude";
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

export function readState({ query }: Visit, now = new Date()): ViewState {
  const range = { ...lastDays(RANGE_LIMITS.daysDefault, now), ...given(query, ["startDate", "endDate"]) };
  const days = daysOf(range);
  return {
    ...range,
    interval: oneOf(INTERVALS, query.get("interval")) ?? (days > DAYS_BY_DAY_MAX ? "week" : "day"),
    compare: oneOf(COMPARISONS, query.get("compare")) ?? "previous",
    automated: query.get("automated") === "exclude" ? "exclude" : "include",
    filters: [...query].flatMap(([name, value]) => (isFilter(name) ? [{ name, value }] : [])),
    metric: oneOf(METRICS, query.get("metric")) ?? "downloads",
  };
}

export function queryOf({ metric: _, filters, ...state }: ViewState): Query {
  const named = new Map<string, string[]>();
  for (const { name, value } of filters) named.set(name, [...(named.get(name) ?? []), value]);
  return { ...state, ...Object.fromEntries(named) };
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

export function daysOf({ startDate, endDate }: Pick<ViewState, "startDate" | "endDate">): number {
  return Math.round((Date.parse(endDate) - Date.parse(startDate)) / DAY_MS);
}

function given<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const set = names.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []));
  return Object.fromEntries(set) as Partial<Record<Name, string>>;
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null): Value | undefined {
  return values.find((value) => value === text);
}

/** The part of an owner's statistics that a page is about: `{ package: id }`, `{ pixel: id }`, or all. */
export type Subject = Readonly<{ package?: string; pixel?: string }>;

export interface LoadedStatistics {
  state: ViewState;
  subject: Subject;
  /** Absent if the API refused the range or a filter. */
  statistics?: Statistics;
  countries: readonly StatisticsRow[];
  problem?: Problem;
  /** The first day with an event, if the answer is empty and there is one. */
  firstDay?: string | undefined;
}

/** Reads what the address asks for. A refused range is shown with the page, so that it can be mended there. */
export async function loadStatistics(visit: Visit, subject: Subject): Promise<LoadedStatistics> {
  const state = readState(visit);
  const query: Query = { ...queryOf(state), ...subject };
  const { api, owner } = visit;
  try {
    const statistics = await api<Statistics>({
      path: path`/v2/${owner.name}/stats`,
      query: { ...query, limit: ROWS_MAX },
    });
    const countries = await allCountries(visit, { statistics, query });
    const firstDay = isNothing(statistics.totals) ? await firstDayOf(visit, subject) : undefined;
    return { state, subject, statistics, countries, firstDay };
  } catch (error) {
    if (!(error instanceof Problem) || !MENDABLE.includes(error.code)) throw error;
    visit.ctx.status = error.status;
    return { state, subject, countries: [], problem: error };
  }
}

/** The map shows every country, the lists their first rows. Few packages have more countries than this. */
const ROWS_MAX = 100;

async function allCountries(
  { api, owner }: Visit,
  { statistics, query }: { statistics: Statistics; query: Query },
): Promise<readonly StatisticsRow[]> {
  const first = statistics.breakdowns["country"] ?? [];
  if (first.length < ROWS_MAX) return first;
  const { rows } = await api<StatisticsListPage>({
    path: path`/v2/${owner.name}/stats/country`,
    query: { ...query, compare: "none", interval: undefined, per_page: COUNTRIES_MAX },
  });
  return rows;
}

const MENDABLE = ["invalid-date", "empty-range", "range-too-long", "invalid-query"];

/** The answer is known to have no event, in its range or in any other. */
export function isNew({ statistics, firstDay }: LoadedStatistics): boolean {
  return statistics !== undefined && isNothing(statistics.totals) && firstDay === undefined;
}

export function isNothing({ downloads, views }: StatisticsTotals): boolean {
  return downloads === 0 && views === 0;
}

/** Logs may be old when they are imported. */
const YEARS_BACK = 5;

/** The first day with an event, whatever the address asks for. The API answers a year at a time. */
async function firstDayOf({ api, owner }: Visit, subject: Subject): Promise<string | undefined> {
  for (let years = YEARS_BACK - 1; years >= 0; years -= 1) {
    const range = lastDays(YEAR_DAYS, new Date(Date.now() - years * YEAR_DAYS * DAY_MS));
    const { series } = await api<Statistics>({
      path: path`/v2/${owner.name}/stats`,
      query: { ...subject, ...range, interval: "day", limit: 1 },
    });
    const first = series.find(({ downloads, views }) => downloads > 0 || views > 0);
    if (first !== undefined) return first.date;
  }
  return undefined;
}

const YEAR_DAYS = 365;

/** Asks for the totals of a year, and for as little else as the API allows. */
export function yearQuery(subject: Subject): Query {
  return { ...subject, ...lastDays(YEAR_DAYS, new Date()), interval: "month", limit: 1 };
}
