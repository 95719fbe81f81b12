import { TIMESTAMP } from "../formats.js";
import { LOG_ENTRY, LOG_SAMPLE_MAX, type LogEntry } from "./import-log.js";

/** The Event import record, as on the wire. */
export interface EventImport {
  id: string;
  owner: string;
  /** `retracting`: its events may still be in the aggregates. It then gets back the status that it had. */
  status: "importing" | "done" | "aborted" | "retracting";
  created_at: string;
  updated_at: string;
  events_total: number;
  events_successfully_imported: number;
  events_failed_to_import: number;
  error_log_sample: LogEntry[];
  warning_log_sample: LogEntry[];
}

/**
 * How an import left `importing`: all of it is settled; its abort was requested; its upload broke off; the process that
 * received it died.
 */
export const IMPORT_ENDINGS = ["done", "aborted", "interrupted", "lost"] as const;
export type ImportEnding = (typeof IMPORT_ENDINGS)[number];

/** The record of an upload in PostgreSQL while its body arrives. */
export interface UploadStore {
  /** Renews the lease, without which the upload counts as interrupted. False if the import was aborted meanwhile. */
  renewLease(importId: string): Promise<boolean>;
  /** The whole body is in the log, and settlement will finish the import. False if it was aborted meanwhile. */
  completeUpload(importId: string, chunksTotal: number): Promise<boolean>;
  /** The body broke off: aborts the import and retracts its events. */
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
    status: {
      type: "string",
      enum: ["importing", "done", "aborted", "retracting"],
      description:
        "`retracting`: it was retracted, and its events may still be in the aggregates; then `done` or `aborted` again",
    },
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
    ...COUNTS,
  },
} as const;

/** The answer of a dry run, in place of the record. */
export const DRY_RUN = {
  title: "DryRun",
  type: "object",
  required: ["dry_run", ...Object.keys(COUNTS)],
  additionalProperties: false,
  properties: { dry_run: { type: "boolean", const: true }, ...COUNTS },
} as const;
