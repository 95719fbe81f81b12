import { bucketsOf } from "../../../aggregate/statistics/buckets.js";
import type { VersionScheme } from "../../../aggregate/statistics/group-version.js";
import type { AdoptionRead } from "../../../aggregate/statistics/read-adoption.js";
import {
  type AdoptedVersion,
  type Adoption,
  type AdoptionBucket,
  OTHER_VERSIONS,
} from "../../../schemas/contracts/adoption.js";
import type { EndOfLife } from "../../../schemas/contracts/end-of-life.js";
import type { Interval } from "../../../schemas/contracts/statistics.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { csvOf } from "../../base/http/answers/csv.js";
import { periodOf } from "./statistics-answer.js";
import { endOfLifeOf } from "./ends-of-life.js";

interface AdoptionParts {
  range: DateRange;
  interval: Interval;
  completeThrough: string;
  eventsFrom: string | undefined;
  read: AdoptionRead;
  endsOfLife: { versions: readonly EndOfLife[]; scheme: VersionScheme };
}

export function adoptionAnswer({
  range,
  interval,
  completeThrough,
  eventsFrom,
  read,
  endsOfLife,
}: AdoptionParts): Adoption {
  const series = bucketsOf(range, interval).map((date) => bucketOf(date, read));
  const sum = (version: string) =>
    series.reduce((total, { versions }) => total + (versions[version] ?? 0), 0);
  const downloads = series.reduce((total, bucket) => total + bucket.downloads, 0);
  const versions = read.versions.map((version): AdoptedVersion => ({
    ...rowOf(version, { count: sum(version), downloads, read }),
    first_seen: read.firstSeen.get(version) ?? null,
    end_of_life: endOfLifeOf(version, endsOfLife),
  }));
  const others = sum(OTHER_VERSIONS);
  return {
    ...periodOf(range),
    interval,
    complete_through: completeThrough,
    ...(eventsFrom !== undefined && { events_from: eventsFrom }),
    versions:
      others === 0 ? versions : [...versions, rowOf(OTHER_VERSIONS, { count: others, downloads, read })],
    series: others === 0 ? series.map(withoutOthers) : series,
  };
}

function rowOf(
  version: string,
  { count, downloads, read }: { count: number; downloads: number; read: AdoptionRead },
): AdoptedVersion {
  return {
    version,
    first_seen: null,
    downloads: count,
    unique_addresses: read.addresses.get(version) ?? 0,
    share: downloads === 0 ? 0 : count / downloads,
    end_of_life: null,
  };
}

/** Every version has a number in every bucket, so that rows have the same columns. */
function bucketOf(date: string, { versions, buckets }: AdoptionRead): AdoptionBucket {
  const counts = buckets.get(date);
  const named = versions.map((version) => [version, counts?.get(version) ?? 0] as const);
  const downloads = counts?.get("") ?? 0;
  const others = named.reduce((left, [, count]) => left - count, downloads);
  return { date, downloads, versions: Object.fromEntries([...named, [OTHER_VERSIONS, others]]) };
}

function withoutOthers({ versions: { [OTHER_VERSIONS]: _, ...versions }, ...bucket }: AdoptionBucket) {
  return { ...bucket, versions };
}

/** A row for each bucket and version. */
export function adoptionAsCsv({ series }: Pick<Adoption, "series">): string {
  return csvOf(
    ["date", "version", "downloads"],
    series.flatMap(({ date, versions }) =>
      Object.entries(versions).map(([version, downloads]) => [date, version, downloads]),
    ),
  );
}
