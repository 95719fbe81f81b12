import { COUNTRIES_MAX } from "../../../schemas/contracts/breakdowns.js";
import {
  type Statistics,
  type StatisticsListPage,
  type StatisticsRow,
  type StatisticsTotals,
} from "../../../schemas/contracts/statistics.js";
import { DAY_MS, lastDays } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { type Query, path } from "../address.js";
import type { Visit } from "../page.js";
import { type ViewState, readState, queryOf } from "./view-state.js";

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
  const loaded = await loadOf(visit, { state, subject });
  // Hours come from events. Of a day whose events are no longer kept, the day is still counted.
  const isKept = loaded.statistics?.events_from === undefined;
  if (state.interval !== "hour" || isKept) return loaded;
  return loadOf(visit, { state: { ...state, interval: "day" }, subject });
}

async function loadOf(
  visit: Visit,
  { state, subject }: Pick<LoadedStatistics, "state" | "subject">,
): Promise<LoadedStatistics> {
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
    if (!isMendable(error)) throw error;
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

/** The page can be shown with other days or filters. */
export function isMendable(error: unknown): error is Problem {
  return error instanceof Problem && MENDABLE.includes(error.code);
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
