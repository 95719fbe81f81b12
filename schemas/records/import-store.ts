import type { FromSchema } from "json-schema-to-ts";
import { COUNT, namesOf, objectOf, TIMESTAMP, titledObject } from "../formats.js";
import { FILE_NAME_MAX } from "./file-name.js";
import { LOG_ENTRY, LOG_SAMPLE_MAX } from "./import-log.js";

export const IMPORT_STATUSES = ["importing", "done", "aborted", "retracting"] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

/** `done`: all settled; `interrupted`: the upload broke off; `lost`: the process that received it died. */
export const IMPORT_ENDINGS = ["done", "aborted", "interrupted", "lost"] as const;
export type ImportEnding = (typeof IMPORT_ENDINGS)[number];

export interface Received {
  /** As sent: compressed if the body is. */
  bytes: number;
  bytesUnpacked: number;
  /** Lines that are not blank. */
  lines: number;
  /** The receipt stamp of the last chunk; 0 before the first. The owner's next import begins after it. */
  stamp: number;
  /** By partition of the event log the offset behind its last chunk, 0 for none; undefined where one is not known. */
  logEnds: readonly number[] | undefined;
}

/** An upload whose whole body is in the log. */
export interface CompletedUpload extends Received {
  importId: string;
  ownerId: string;
  chunksTotal: number;
}

export const UPLOAD_LEASE_SECONDS = 30;

const SAMPLE = { type: "array", maxItems: LOG_SAMPLE_MAX, items: LOG_ENTRY } as const;
const COUNTS = {
  events_total: { ...COUNT, description: "Lines that are neither blank nor skipped" },
  events_successfully_imported: COUNT,
  events_failed_to_import: COUNT,
  events_with_warnings: {
    ...COUNT,
    description:
      "Events imported with a warning, because a field could not be used. See `warning_log_sample` and the log",
  },
  error_log_sample: SAMPLE,
  warning_log_sample: SAMPLE,
} as const;

const SKIPPED = {
  ...COUNT,
  description: "Lines without an event: comments, requests that are not downloads, empty rows",
} as const;

const TARGET = {
  type: ["object", "null"],
  required: ["id", "name"],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    name: {
      type: ["string", "null"],
      description: "Name of the package or pixel. Null if it has been deleted",
    },
  },
} as const;

/** In place of the name of an account that was removed. No username contains parentheses. */
export const REMOVED = "(removed)";

/** Beyond the fields of the specification. */
const ORIGIN = {
  package: {
    ...TARGET,
    description: "The package of all events. Null if each line names its package or pixel",
  },
  pixel: {
    ...TARGET,
    description: "The pixel of all events. Null if each line names its package or pixel",
  },
  started_by: { type: "string", description: `Username, or \`${REMOVED}\` if the account has been removed` },
  started_with_token: {
    type: ["string", "null"],
    description:
      "Name of the access token that was used. Null if the account's own token or a session was used",
  },
  bytes: { ...COUNT, description: "Bytes received so far, as sent" },
  bytes_unpacked: { ...COUNT, description: "Bytes received so far, decompressed" },
  lines_received: {
    ...COUNT,
    description:
      "Lines received so far that are not blank. After the upload, this is the sum of `events_total` and " +
      "`lines_skipped`",
  },
  lines_skipped: SKIPPED,
  finished_at: {
    ...TIMESTAMP,
    type: ["string", "null"],
    description: "Time at which the status became `done` or `aborted`. Null until then",
  },
} as const;

export const EVENT_IMPORT = titledObject(
  "EventImport",
  ["id", "owner", "status", "created_at", "updated_at", ...namesOf(COUNTS), ...namesOf(ORIGIN)],
  {
    id: { type: "string", format: "uuid" },
    owner: { type: "string" },
    status: {
      type: "string",
      enum: IMPORT_STATUSES,
      description:
        "`retracting`: the import was retracted, but its events may still be in aggregates. The status " +
        "then returns to `done` or `aborted`",
    },
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
    ...COUNTS,
    ...ORIGIN,
    name: {
      type: "string",
      maxLength: FILE_NAME_MAX,
      description: "Name of the file, if the sender gave one",
    },
  },
);
export type EventImport = FromSchema<typeof EVENT_IMPORT>;

/** The counts of an import's lines by their outcome; those of a dry run are what an import would have. */
export type ImportCounts = Pick<EventImport, keyof typeof COUNTS | "lines_skipped">;

export const EVENT_SAMPLE_MAX = 10;

const EVENT_SAMPLE = objectOf(["line", "time", "type", "version", "user_agent", "referer", "variables"], {
  line: { type: "integer", minimum: 1 },
  time: { type: "string", format: "date-time" },
  type: { type: "string" },
  version: { type: "string" },
  user_agent: { type: "string" },
  referer: { type: "string" },
  variables: { type: "object", additionalProperties: { type: "string" } },
});
/** An event as a dry run reads it. Texts are empty where the line says nothing. */
export type EventSample = FromSchema<typeof EVENT_SAMPLE>;

export const DRY_RUN = titledObject(
  "DryRun",
  ["dry_run", ...namesOf(COUNTS), "lines_skipped", "event_sample"],
  {
    dry_run: { type: "boolean", const: true },
    ...COUNTS,
    lines_skipped: SKIPPED,
    event_sample: {
      type: "array",
      maxItems: EVENT_SAMPLE_MAX,
      items: EVENT_SAMPLE,
      description: "The first events, as they would be imported",
    },
  },
);
/** The answer of a dry run, in place of the record. */
export type DryRun = FromSchema<typeof DRY_RUN>;

/** Lines that were enriched, whether or not they hold an event. */
export function linesDone({
  events_total: events,
  lines_skipped: skipped,
}: Pick<ImportCounts, "events_total" | "lines_skipped">): number {
  return events + skipped;
}

/** Says for people why an import that has ended holds no event. */
export function nothingImported({
  events_total: lines,
  lines_skipped: skipped,
}: Pick<ImportCounts, "events_total" | "lines_skipped">): string {
  if (lines === 0 && skipped > 0) return "Nothing was imported: no line contains an event.";
  if (lines === 0) return "Nothing was imported: the body has no lines.";
  return `Nothing was imported: ${lines === 1 ? "the only line" : "every line"} was rejected.`;
}
