/** What an import's log can say about a line. The types are wire values. */
export type LogType =
  | "failed-to-decode"
  | "missing-time"
  | "invalid-time"
  | "artifact-not-found"
  | "missing-artifact"
  | "line-too-long"
  | "invalid-value"
  | "invalid-remote-address"
  | "unknown-property"
  | "upload-interrupted"
  | "chunk-set-aside"
  | "retracted";

/** `error`: the line was not imported. `warning`: imported, with a defect. `info`: about the whole import. */
export type LogClass = "error" | "warning" | "info";

/** One entry, spelled as on the wire. */
export interface LogEntry {
  class: LogClass;
  type: LogType;
  human_friendly_message: string;
  /** 1-based; 0 for an entry about the whole import. */
  line: number;
  package_id?: string;
  pixel_id?: string;
}

export const LOG_SAMPLE_MAX = 10;
