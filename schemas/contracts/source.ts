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

/** A thing on a registry whose counts are fetched every day. */
export interface SourceRecord {
  id: string;
  owner: string;
  kind: SourceKind;
  name: string;
  package_id?: string;
  enabled: boolean;
  created_at: string;
  updated_at: string;
  last_run_at?: string;
  last_success_at?: string;
  /** A sentence; absent after a run that succeeded. */
  last_error?: string;
  /** Absent while it is disabled. */
  next_run_at?: string;
  first_date?: string;
  last_date?: string;
}

export interface SourceUpdate {
  kind?: SourceKind;
  name?: string;
  package?: string | null;
  enabled?: boolean;
}

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
    last_error: { type: "string" },
    next_run_at: TIMESTAMP,
    first_date: DATE,
    last_date: DATE,
  },
);
export const SOURCE_CREATE = titledObject("SourceCreate", ["kind", "name"], UPDATE);
export const SOURCE_UPDATE = titledObject("SourceUpdate", [], UPDATE);

export const parseSourceCreate = compileBody<SourceCreate>(SOURCE_CREATE);
export const parseSourceUpdate = compileBody<SourceUpdate>(SOURCE_UPDATE);

/** A line of `GET /v2/{owner}/reported`: what a registry counted on a day. */
export interface ReportedLine {
  source: string;
  kind: SourceKind;
  name: string;
  package_id?: string;
  date: string;
  /** Absent where the registry counts all versions together. */
  version?: string;
  metric: Metric;
  /** Null on a day on which a counter of the registry was set back. */
  value: number | null;
  first_value: number | null;
  fetched_at: string;
  /** Absent while the first value stands. */
  changed_at?: string;
}

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
    version: { type: "string" },
    value: NULLABLE_COUNT,
    first_value: NULLABLE_COUNT,
    fetched_at: TIMESTAMP,
    changed_at: TIMESTAMP,
  },
);

/** Of a chart: one entry for each source and metric. */
export interface ReportedDays {
  start_date: string;
  end_date: string;
  sources: (Pick<ReportedLine, "source" | "kind" | "name" | "package_id" | "metric"> & {
    total: number;
    /** Null on a day without a value. */
    days: (number | null)[];
  })[];
}

export const REPORTED_DAYS = titledObject("ReportedDays", ["start_date", "end_date", "sources"], {
  start_date: DATE,
  end_date: DATE,
  sources: {
    type: "array",
    items: objectOf(["source", "kind", "name", "metric", "total", "days"], {
      ...COUNTED,
      total: COUNT,
      days: { type: "array", items: NULLABLE_COUNT },
    }),
  },
});
