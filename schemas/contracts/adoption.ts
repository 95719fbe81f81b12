import type { FromSchema } from "json-schema-to-ts";
import { COUNT, DATE, objectOf, TIMESTAMP, titledObject } from "../formats.js";
import { DAYS_INTERVALS, type Interval } from "./statistics.js";

/** The row of all versions that have none of their own, and of downloads without a version. */
export const OTHER_VERSIONS = "other";
/** Versions with a row of their own: those with most downloads. */
export const ADOPTION_VERSIONS_MAX = 10;

const NULLABLE_DATE = { type: ["string", "null"], format: "date" } as const;

const VERSION = titledObject(
  "AdoptedVersion",
  ["version", "first_seen", "downloads", "unique_addresses", "share", "end_of_life"],
  {
    version: { type: "string" },
    first_seen: {
      ...NULLABLE_DATE,
      description: `Day of the first download, which can be before the range. Null for \`${OTHER_VERSIONS}\``,
    },
    downloads: COUNT,
    unique_addresses: { ...COUNT, description: "Exact number of distinct IP addresses in the whole range" },
    share: { type: "number", minimum: 0, description: "Share of all downloads of the range" },
    end_of_life: { ...NULLABLE_DATE, description: "End-of-life date of the version, or of its group" },
  },
);
export type AdoptedVersion = FromSchema<typeof VERSION>;

const BUCKET = objectOf(["date", "downloads", "versions"], {
  date: { ...DATE, description: "First day of the bucket within the range" },
  downloads: COUNT,
  versions: {
    type: "object",
    additionalProperties: COUNT,
    description: "Downloads by version, for the names in `versions`. They add up to `downloads`",
  },
});
export type AdoptionBucket = FromSchema<typeof BUCKET>;

export const ADOPTION = titledObject(
  "Adoption",
  ["start_date", "end_date", "interval", "complete_through", "versions", "series"],
  {
    start_date: DATE,
    end_date: { ...DATE, description: "End of the range (exclusive)" },
    interval: { type: "string", enum: DAYS_INTERVALS },
    complete_through: { ...TIMESTAMP, description: "Everything imported before this time is included" },
    events_from: {
      ...DATE,
      description:
        "Events before this day have expired. Earlier days have no unique IP addresses and, with " +
        "filters, no downloads. Absent if all days are complete",
    },
    versions: {
      type: "array",
      description: `The ${ADOPTION_VERSIONS_MAX} most downloaded versions, then \`${OTHER_VERSIONS}\` if there are more`,
      items: VERSION,
    },
    series: {
      type: "array",
      description: "All buckets of the range, including empty ones",
      items: BUCKET,
    },
  },
);
export type Adoption = Omit<FromSchema<typeof ADOPTION>, "interval"> & { interval: Interval };
