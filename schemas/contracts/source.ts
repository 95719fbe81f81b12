import type { FromSchema } from "json-schema-to-ts";
import { COUNT, DATE, TIMESTAMP, objectOf, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

export const SOURCE_KINDS = [
  "npm",
  "pypi",
  "docker-hub",
  "github-releases",
  "crates",
  "rubygems",
  "homebrew",
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export const METRICS = ["downloads", "pulls", "installs", "views", "clones"] as const;
export type Metric = (typeof METRICS)[number];

export type SourceCreate = SourceUpdate & { kind: SourceKind; name: string };

const KIND = { type: "string", enum: SOURCE_KINDS } as const;
const NAME = {
  type: "string",
  format: "line",
  minLength: 1,
  maxLength: 256,
  description: "Name at the registry: `left-pad`, `@acme/tool`, `acme/web`",
} as const;
const UPDATE = {
  kind: KIND,
  name: NAME,
  package: {
    type: ["string", "null"],
    minLength: 1,
    maxLength: 256,
    description: "Id or name of a package of the same owner",
  },
  enabled: { type: "boolean" },
} as const;

export const SOURCE = titledObject(
  "Source",
  ["id", "owner", "kind", "name", "enabled", "created_at", "updated_at"],
  {
    id: { type: "string", format: "uuid" },
    owner: { type: "string" },
    kind: KIND,
    name: { type: "string" },
    package_id: { type: "string", format: "uuid" },
    enabled: { type: "boolean" },
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
    last_run_at: TIMESTAMP,
    last_success_at: TIMESTAMP,
    last_error: { type: "string", description: "Error of the last run. Absent if it succeeded" },
    next_run_at: { ...TIMESTAMP, description: "Time of the next run. Absent while the source is disabled" },
    first_date: DATE,
    last_date: DATE,
  },
);
/** A thing on a registry whose counts are fetched every day. */
export type SourceRecord = FromSchema<typeof SOURCE>;
export const SOURCE_CREATE = titledObject("SourceCreate", ["kind", "name"], UPDATE);
export const SOURCE_UPDATE = titledObject("SourceUpdate", [], UPDATE);
export type SourceUpdate = FromSchema<typeof SOURCE_UPDATE>;

export const parseSourceCreate = compileBody<SourceCreate>(SOURCE_CREATE);
export const parseSourceUpdate = compileBody<SourceUpdate>(SOURCE_UPDATE);

const NULLABLE_COUNT = { type: ["integer", "null"], minimum: 0 } as const;
const COUNTED = {
  source: { type: "string", format: "uuid" },
  kind: KIND,
  name: { type: "string" },
  package_id: { type: "string", format: "uuid" },
  metric: { type: "string", enum: METRICS },
} as const;

export const REPORTED_LINE = titledObject(
  "ReportedLine",
  ["source", "kind", "name", "date", "metric", "value", "first_value", "fetched_at"],
  {
    ...COUNTED,
    date: DATE,
    version: {
      type: "string",
      description: "Version of the package. Absent if the registry does not count versions separately",
    },
    value: {
      ...NULLABLE_COUNT,
      description: "Count of the day. Null if the registry reset its counter on that day",
    },
    first_value: NULLABLE_COUNT,
    fetched_at: TIMESTAMP,
    changed_at: {
      ...TIMESTAMP,
      description:
        "Time at which the most recent change of the value was fetched. Absent if the value has never changed",
    },
  },
);
/** A line of `GET /v2/{owner}/reported`: what a registry counted on a day. */
export type ReportedLine = FromSchema<typeof REPORTED_LINE>;

export const REPORTED_DAYS = titledObject("ReportedDays", ["start_date", "end_date", "sources"], {
  start_date: DATE,
  end_date: DATE,
  sources: {
    type: "array",
    items: objectOf(["source", "kind", "name", "metric", "total", "days"], {
      ...COUNTED,
      total: COUNT,
      days: {
        type: "array",
        items: NULLABLE_COUNT,
        description: "One count per day of the range. Null on a day without a count",
      },
    }),
  },
});
/** Of a chart: one entry for each source and metric. */
export type ReportedDays = FromSchema<typeof REPORTED_DAYS>;
