import type { FromSchema } from "json-schema-to-ts";
import { objectOf, titledObject } from "../formats.js";

/** The types of entries in an import's log. They are wire values. */
export const LOG_TYPES = [
  // Errors of a line, which is refused.
  "failed-to-decode",
  "missing-time",
  "invalid-time",
  "past-retention",
  "artifact-not-found",
  "missing-artifact",
  "line-too-long",
  // An error, or the warning that a variable was left out.
  "invalid-value",
  // Warnings: the line is imported without this field.
  "invalid-remote-address",
  "unknown-country",
  "unknown-property",
  // About many lines, or the whole import.
  "upload-interrupted",
  "dead-letter",
  "retracted",
  "entries-not-kept",
] as const;

export type LogType = (typeof LOG_TYPES)[number];

/** `error`: the line was not imported. `warning`: imported, with a defect. `info`: about the whole import. */
export const LOG_CLASSES = ["error", "warning", "info"] as const;

export type LogClass = (typeof LOG_CLASSES)[number];

export const LOG_SAMPLE_MAX = 10;

export const FAULT_EXAMPLES_MAX = 5;

export const LOG_ENTRY = titledObject("LogEntry", ["class", "type", "human_friendly_message", "line"], {
  class: {
    type: "string",
    enum: LOG_CLASSES,
    description:
      "`error`: the line was not imported. `warning`: it was imported, but a field could not be used. " +
      "`info`: about the whole import",
  },
  type: { type: "string", enum: LOG_TYPES },
  human_friendly_message: { type: "string" },
  line: {
    type: "integer",
    minimum: 0,
    description: "Line number, starting at 1. 0 for entries about the whole import",
  },
  package_id: { type: "string" },
  pixel_id: { type: "string" },
});
export type LogEntry = FromSchema<typeof LOG_ENTRY>;

const FAULT_EXAMPLE = objectOf(["line", "human_friendly_message"], {
  line: LOG_ENTRY.properties.line,
  human_friendly_message: { type: "string" },
  text: { type: "string", description: "Beginning of a rejected line, at most 500 characters" },
});
export type FaultExample = FromSchema<typeof FAULT_EXAMPLE>;

const IMPORT_FAULT = titledObject("ImportFault", ["class", "type", "count", "examples"], {
  class: LOG_ENTRY.properties.class,
  type: LOG_ENTRY.properties.type,
  count: {
    type: "integer",
    minimum: 1,
    description: "Number of log entries of this class and type",
  },
  examples: {
    type: "array",
    maxItems: FAULT_EXAMPLES_MAX,
    items: FAULT_EXAMPLE,
    description: "The first entries, by line",
  },
});
/** The log entries of one class and type, as on the wire. */
export type ImportFault = FromSchema<typeof IMPORT_FAULT>;

export const IMPORT_FAULTS = titledObject("ImportFaults", ["faults"], {
  faults: { type: "array", items: IMPORT_FAULT },
});
