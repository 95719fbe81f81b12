import { endOfLifeOf } from "../../../api/features/statistics/ends-of-life.js";
import { newestFirst } from "../../../aggregate/statistics/compare-versions.js";
import { groupingOf, groupsOf, groupVersion } from "../../../aggregate/statistics/group-version.js";
import type { Adoption } from "../../../schemas/contracts/adoption.js";
import type { EndOfLife, EndOfLifeUse } from "../../../schemas/contracts/end-of-life.js";
import { type RecountQuery, recountStatistics, typesOf } from "./recount-statistics.js";
import type { SentEvent } from "./sent-events.js";

interface AdoptionRecount extends RecountQuery {
  artifacts: readonly [string];
  endsOfLife: readonly EndOfLife[];
}

/** Adoption of these events, counted one by one. */
export function recountAdoption(
  events: readonly SentEvent[],
  query: AdoptionRecount,
): Omit<Adoption, "complete_through"> {
  const { startDate, endDate, interval = "week", versions: by = "minor", artifacts, endsOfLife } = query;
  const grouping = groupingOf({ libraryTypes: typesOf(events, query), versions: by });
  const own = events.filter(({ artifact }) => artifacts.includes(artifact.id));
  const kept = own.filter(query.keeps ?? (() => true));
  const counted = kept.filter(({ day }) => day >= startDate && day < endDate);
  const versionOf = ({ version }: SentEvent) => groupVersion(version, grouping);
  const named = mostOf(counted.map(versionOf), newestFirst(grouping.scheme));
  const nameOf = (event: SentEvent) => (named.includes(versionOf(event)) ? versionOf(event) : "other");
  const names = counted.some((event) => nameOf(event) === "other") ? [...named, "other"] : named;
  const { series } = recountStatistics(kept, { startDate, endDate, interval, artifacts });
  const dates = series.map(({ date }) => date);
  const bucketOf = ({ day }: SentEvent) => dates.findLast((date) => date <= day);
  return {
    start_date: startDate,
    end_date: endDate,
    interval,
    versions: names.map((version) => {
      const of = counted.filter((event) => nameOf(event) === version);
      const days = own.filter((event) => versionOf(event) === version).map(({ day }) => day);
      return {
        version,
        first_seen: version === "other" ? null : (days.sort()[0] ?? null),
        downloads: of.length,
        unique_addresses: addressesOf(of),
        share: of.length / counted.length,
        end_of_life: endOfLifeOf(version, { versions: endsOfLife, scheme: grouping.scheme }),
      };
    }),
    series: series.map(({ date, downloads }) => ({
      date,
      downloads,
      versions: Object.fromEntries(
        names.map((name) => [
          name,
          counted.filter((event) => bucketOf(event) === date && nameOf(event) === name).length,
        ]),
      ),
    })),
  };
}

/** Who used these versions, and groups of versions, counted one by one. */
export function recountUse(
  events: readonly SentEvent[],
  { startDate, endDate, artifacts, endsOfLife }: AdoptionRecount,
): EndOfLifeUse[] {
  const { scheme } = groupingOf({ libraryTypes: typesOf(events, { artifacts }) });
  const counted = events.filter(
    ({ artifact, day }) => artifacts.includes(artifact.id) && day >= startDate && day < endDate,
  );
  return endsOfLife.map((end) => {
    const of = counted.filter(({ version }) => groupsOf(version, scheme).includes(end.version));
    const companies = of.map(({ place: { company } }) => company[0]).filter((name) => name !== "");
    return {
      ...end,
      downloads: of.length,
      unique_addresses: addressesOf(of),
      companies: new Set(companies).size,
    };
  });
}

function addressesOf(events: readonly SentEvent[]): number {
  return new Set(events.map(({ place }) => place.address).filter((address) => address !== "")).size;
}

function mostOf(versions: readonly string[], order: (one: string, other: string) => number): string[] {
  const counts = new Map<string, number>();
  for (const version of versions) counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts]
    .filter(([version]) => version !== "" && version !== "other")
    .sort(([one, a], [other, b]) => b - a || order(one, other))
    .slice(0, 10)
    .map(([version]) => version);
}
