/** The types of entries in an import's log. They are wire values. */
export const LOG_TYPES = [
  "failed-to-decode",
  "missing-time",
  "invalid-time",
  "artifact-not-found",
  "missing-artifact",
  "line-too-long",
  "invalid-value",
  "invalid-remote-address",
  "unknown-property",
  "upload-interrupted",
  "dead-letter",
  "retracted",
] as const;

export type LogType = (typeof LOG_TYPES)[number];

/** `error`: the line was not imported. `warning`: imported, with a defect. `info`: about the whole import. */
export const LOG_CLASSES = ["error", "warning", "info"] as const;

export type LogClass = (typeof LOG_CLASSES)[number];

/** One entry, as on the wire. */
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

export const LOG_ENTRY = {
  title: "LogEntry",
  type: "object",
  required: ["class", "type", "human_friendly_message", "line"],
  additionalProperties: false,
  properties: {
    class: {
      type: "string",
      enum: LOG_CLASSES,
      description: "error: not imported; warning: imported, with a defect; info: about the whole import",
    },
    type: { type: "string", enum: LOG_TYPES },
    human_friendly_message: { type: "string" },
    line: { type: "integer", minimum: 0, description: "From 1; 0 for an entry about the whole import" },
    package_id: { type: "string" },
    pixel_id: { type: "string" },
  },
} as const;
