import { TIMESTAMP } from "../formats.js";
import { LOG_ENTRY, LOG_SAMPLE_MAX, type LogEntry } from "./import-log.js";

/** The Event import record, spelled as on the wire. */
export interface EventImport {
  id: string;
  owner: string;
  status: "importing" | "done" | "aborted";
  created_at: string;
  updated_at: string;
  events_total: number;
  events_successfully_imported: number;
  events_failed_to_import: number;
  error_log_sample: LogEntry[];
  warning_log_sample: LogEntry[];
}

/**
 * How an import stopped being `importing`: all of it is settled; someone asked for its abort; its upload broke off;
 * the process that received it is gone.
 */
export const IMPORT_ENDINGS = ["done", "aborted", "interrupted", "lost"] as const;
export type ImportEnding = (typeof IMPORT_ENDINGS)[number];

/** What an upload needs of PostgreSQL while its body comes in. */
export interface UploadStore {
  /** Keeps the upload from being taken for interrupted. False when the import was aborted meanwhile. */
  renewLease(importId: string): Promise<boolean>;
  /** The whole body is in the log: the import finishes by itself. False when it was aborted meanwhile. */
  completeUpload(importId: string, chunksTotal: number): Promise<boolean>;
  /** The body broke off: nothing of it may stay. */
  interruptUpload(importId: string, reason: string): Promise<void>;
}

export const UPLOAD_LEASE_SECONDS = 30;

const COUNT = { type: "integer", minimum: 0 } as const;
const SAMPLE = { type: "array", maxItems: LOG_SAMPLE_MAX, items: LOG_ENTRY } as const;
const COUNTS = {
  events_total: { ...COUNT, description: "Lines that are not blank" },
  events_successfully_imported: COUNT,
  events_failed_to_import: COUNT,
  error_log_sample: SAMPLE,
  warning_log_sample: SAMPLE,
} as const;

export const EVENT_IMPORT = {
  title: "EventImport",
  type: "object",
  required: ["id", "owner", "status", "created_at", "updated_at", ...Object.keys(COUNTS)],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    owner: { type: "string" },
    status: { type: "string", enum: ["importing", "done", "aborted"] },
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
    ...COUNTS,
  },
} as const;

/** What is answered in place of the record when nothing was imported on purpose. */
export const DRY_RUN = {
  title: "DryRun",
  type: "object",
  required: ["dry_run", ...Object.keys(COUNTS)],
  additionalProperties: false,
  properties: { dry_run: { type: "boolean", const: true }, ...COUNTS },
} as const;
