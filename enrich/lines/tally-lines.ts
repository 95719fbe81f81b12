import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { LOG_SAMPLE_MAX, type LogEntry } from "../../schemas/records/import-log.js";
import type { LineFault } from "./line-fault.js";
import type { ReadEvent } from "./read-event.js";

/** Counts of lines that are not blank, and the first log entries of each class. */
export type LineTally = Pick<
  ChunkOutcome,
  | "eventsTotal"
  | "eventsImported"
  | "eventsFailed"
  | "eventsWithWarnings"
  | "linesSkipped"
  | "errors"
  | "warnings"
>;

export function emptyTally(): LineTally {
  return {
    eventsTotal: 0,
    eventsImported: 0,
    eventsFailed: 0,
    eventsWithWarnings: 0,
    linesSkipped: 0,
    errors: [],
    warnings: [],
  };
}

export function tallyLine(tally: LineTally, line: number, read: ReadEvent): void {
  tally.eventsTotal++;
  if ("fault" in read) {
    tally.eventsFailed++;
    addEntry(tally.errors, read.fault, line);
    return;
  }
  tally.eventsImported++;
  if (read.warnings.length > 0) tally.eventsWithWarnings++;
  for (const fault of read.warnings) addEntry(tally.warnings, fault, line);
}

/** Adds the counts of further lines, which come after those of `tally`. */
export function addTally(tally: LineTally, next: LineTally): void {
  tally.eventsTotal += next.eventsTotal;
  tally.eventsImported += next.eventsImported;
  tally.eventsFailed += next.eventsFailed;
  tally.eventsWithWarnings += next.eventsWithWarnings;
  tally.linesSkipped += next.linesSkipped;
  for (const entries of ["errors", "warnings"] as const)
    tally[entries].push(...next[entries].slice(0, LOG_SAMPLE_MAX - tally[entries].length));
}

function addEntry(sample: LogEntry[], fault: LineFault, line: number): void {
  if (sample.length < LOG_SAMPLE_MAX) sample.push(logEntry(fault, line));
}

function logEntry(
  { class: faultClass, type, message, packageId, pixelId }: LineFault,
  line: number,
): LogEntry {
  return {
    class: faultClass,
    type,
    human_friendly_message: message,
    line,
    ...(packageId === undefined ? {} : { package_id: packageId }),
    ...(pixelId === undefined ? {} : { pixel_id: pixelId }),
  };
}
