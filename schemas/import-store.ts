import type { LogEntry } from "./import-log.js";

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
