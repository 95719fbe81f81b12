/** A request, as an access log has it. */
export interface LoggedRequest {
  /** ISO 8601 with its zone. */
  time: string;
  address: string;
  /** Empty where the log does not say. */
  userAgent: string;
  referrer: string;
  method: string;
  /** Path and query, percent-encoded as sent. */
  target: string;
  status: number;
}

/**
 * Reads one line. Undefined if it is no line of the format. `comment`: it belongs to the format and is no request. Some
 * formats name their columns in a comment, so one reader reads all lines of a log, in order.
 */
export type ReadLine = (line: string) => LoggedRequest | "comment" | undefined;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `10/Oct/2026:13:55:36 -0700` as `2026-10-10T13:55:36-07:00`. Undefined if it is no such time. */
export function isoOf(time: string): string | undefined {
  const [, day, name = "", year, clock, hours, minutes] = TIME.exec(time) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  if (month === 0) return undefined;
  return `${year}-${String(month).padStart(2, "0")}-${day}T${clock}${hours}:${minutes}`;
}

const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/;

/** Logs write `-` for nothing. */
export function orNothing(text: string | undefined): string {
  return text === undefined || text === "-" ? "" : text;
}
