import { newestFirst } from "../../../aggregate/statistics/compare-versions.js";
import { type Grouping, groupingOf, groupVersion } from "../../../aggregate/statistics/group-version.js";
import type { Statistics, StatisticsRow, VersionGrouping } from "../../../schemas/contracts/statistics.js";
import { DAY_MS } from "../../../schemas/date-range.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import type { SentEvent } from "./sent-events.js";

export interface RecountQuery {
  startDate: string;
  endDate: string;
  /** The range to compare with. */
  before?: { startDate: string; endDate: string };
  interval?: "day" | "week" | "month";
  limit?: number;
  versions?: VersionGrouping;
  /** Ids; all by default. */
  artifacts?: readonly string[];
  keeps?: (event: SentEvent) => boolean;
}

type Expected = Omit<Statistics, "complete_through">;

/** Statistics of these events, counted one by one. */
export function recountStatistics(events: readonly SentEvent[], query: RecountQuery): Expected {
  const { startDate, endDate, before, interval = "day", limit = 10, artifacts, keeps = () => true } = query;
  const grouping = groupingOf({ libraryTypes: typesOf(events, query), versions: query.versions });
  const asked = events.filter((event) => (artifacts?.includes(event.artifact.id) ?? true) && keeps(event));
  const within = (range: { startDate: string; endDate: string }) =>
    asked.filter(({ day }) => day >= range.startDate && day < range.endDate);
  const onlyPixels =
    artifacts !== undefined &&
    events.every((each) => !artifacts.includes(each.artifact.id) || each.artifact.kind === "pixel");
  const now = within({ startDate, endDate });
  const earlier = before === undefined ? [] : within(before);
  return {
    start_date: startDate,
    end_date: endDate,
    interval,
    totals: totalsOf(now),
    ...(before !== undefined && {
      compare: {
        start_date: before.startDate,
        end_date: before.endDate,
        totals: totalsOf(earlier),
        series: seriesOf(earlier, { ...before, interval }),
      },
    }),
    series: seriesOf(now, { startDate, endDate, interval }),
    breakdowns: Object.fromEntries(
      Object.entries({ ...LISTS, version: versionsBy(grouping) }).map(([name, valuesOf]) => {
        const measure = onlyPixels || name === "page" ? "views" : "downloads";
        const kind = measure === "views" ? "pixel" : "package";
        const counted = (some: readonly SentEvent[]) => some.filter(({ artifact }) => artifact.kind === kind);
        const rows = rowsOf(counted(now), { before: counted(earlier), valuesOf, measure, grouping });
        return [name, rows.slice(0, limit)];
      }),
    ),
  };
}

/** The rows of each list that one event counts in; an empty first value counts in none. */
const LISTS: Record<string, (event: SentEvent) => Record<string, string>[]> = {
  company: ({ place: { company } }) => [{ company_name: company[0], company_domain: company[1] }],
  cloud_provider: ({ place: { cloud } }) => [
    { cloud_provider_name: cloud[0], cloud_provider_domain: cloud[1] },
  ],
  country: ({ place }) => [{ country: place.country }],
  platform: ({ agent }) => [{ platform: agent.platform }],
  client: ({ agent }) => [{ client: agent.client[0], client_version: agent.client[1] }],
  variable: ({ artifact, variables }) =>
    artifact.libraryType === "other"
      ? Object.entries(variables).map(([variable, value]) => ({ variable, value }))
      : [],
  page: ({ page }) => [{ page }],
};

function versionsBy(grouping: Grouping) {
  return ({ version }: SentEvent) => [{ version: groupVersion(version, grouping) }];
}

export function typesOf(
  events: readonly SentEvent[],
  { artifacts }: Pick<RecountQuery, "artifacts">,
): Set<LibraryType> {
  const asked = events.filter(({ artifact }) => artifacts?.includes(artifact.id) ?? true);
  return new Set(asked.flatMap(({ artifact: { libraryType: type } }) => (type === "" ? [] : [type])));
}

function rowsOf(
  events: readonly SentEvent[],
  {
    before,
    valuesOf,
    measure,
    grouping,
  }: {
    before: readonly SentEvent[];
    valuesOf: (event: SentEvent) => Record<string, string>[];
    measure: string;
    grouping: Grouping;
  },
): StatisticsRow[] {
  const byVersion = newestFirst(grouping.scheme);
  const order = (one: string, other: string) => {
    const [a, b] = [one, other].map((key) => (JSON.parse(key) as Record<string, string>)["version"]);
    return a === undefined || b === undefined ? (one < other ? -1 : 1) : byVersion(a, b);
  };
  const [counts, countsBefore] = [tally(events, valuesOf), tally(before, valuesOf)];
  return [...counts]
    .sort(([a, one], [b, other]) => other - one || order(a, b))
    .map(([key, count]) => {
      const earlier = countsBefore.get(key) ?? 0;
      const fields = Object.entries(JSON.parse(key) as Record<string, string>).filter(([name, text]) => {
        return text !== "" || name === "value";
      });
      return {
        ...Object.fromEntries(fields),
        [measure]: count,
        share: count / events.length,
        change: earlier === 0 ? null : (count - earlier) / earlier,
      };
    });
}

function tally(
  events: readonly SentEvent[],
  valuesOf: (event: SentEvent) => Record<string, string>[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const values of events.flatMap(valuesOf)) {
    if (Object.values(values)[0] === "") continue;
    const key = JSON.stringify(values);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function countsOf(events: readonly SentEvent[]) {
  const addresses = new Set(events.map(({ place }) => place.address).filter((address) => address !== ""));
  return {
    downloads: events.filter(({ artifact }) => artifact.kind === "package").length,
    views: events.filter(({ artifact }) => artifact.kind === "pixel").length,
    unique_addresses: addresses.size,
  };
}

function totalsOf(events: readonly SentEvent[]): Statistics["totals"] {
  const companies = new Set(events.map(({ place }) => place.company[0]).filter((name) => name !== ""));
  return { ...countsOf(events), companies: companies.size };
}

function seriesOf(
  events: readonly SentEvent[],
  { startDate, endDate, interval }: { startDate: string; endDate: string; interval: string },
): Statistics["series"] {
  const buckets = new Map<string, SentEvent[]>();
  let first = startDate;
  for (let time = Date.parse(startDate); time < Date.parse(endDate); time += DAY_MS) {
    const date = new Date(time);
    const day = date.toISOString().slice(0, 10);
    const begins = { day: true, week: date.getUTCDay() === 1, month: date.getUTCDate() === 1 }[interval];
    if (begins === true) first = day;
    const bucket = buckets.get(first) ?? [];
    buckets.set(first, [...bucket, ...events.filter((event) => event.day === day)]);
  }
  return [...buckets].map(([date, some]) => ({ date, ...countsOf(some) }));
}
