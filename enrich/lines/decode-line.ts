import type { LogClass, LogType } from "../../schemas/records/import-log.js";

/** A fact about a line that its import's log will tell: refused for an error, imported with a warning. */
export interface LineFault {
  class: LogClass;
  type: LogType;
  message: string;
  packageId?: string;
  pixelId?: string;
}

/** The keys and values of a line as they were sent. */
export type LineObject = Record<string, unknown>;

/** Longest line that is imported, in bytes without its line end. */
export const LINE_BYTES_MAX = 1_048_576;

export function error(type: LogType, message: string, artifact: Partial<LineFault> = {}): LineFault {
  return { class: "error", type, message, ...artifact };
}

export function warning(type: LogType, message: string): LineFault {
  return { class: "warning", type, message };
}

const NOT_AN_OBJECT = error("failed-to-decode", "Not a valid JSON object");
const TOO_LONG = error("line-too-long", `Longer than ${LINE_BYTES_MAX} bytes: only its beginning is kept`);

/** One line's bytes to its JSON object, or to why it cannot be one. Never throws. */
export function decodeLine(bytes: Buffer): LineObject | { fault: LineFault } {
  if (lineLength(bytes) > LINE_BYTES_MAX) return { fault: TOO_LONG };
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : { fault: NOT_AN_OBJECT };
  } catch {
    return { fault: NOT_AN_OBJECT };
  }
}

/** Without the CR that some systems put before the line end. */
function lineLength(bytes: Buffer): number {
  return bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
}

/** The keys of a decoded line cannot be mistaken for this: a fault is an object of ours, a line's never is. */
export function isRefused(decoded: LineObject | { fault: LineFault }): decoded is { fault: LineFault } {
  return decoded.fault === NOT_AN_OBJECT || decoded.fault === TOO_LONG;
}

export function isObject(value: unknown): value is LineObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

/** A line that was cut short is not blank, whatever it begins with: it may have gone on with anything. */
export function isBlank(bytes: Buffer): boolean {
  if (bytes.length === 0) return true;
  const empty = bytes.every((byte) => byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN);
  return empty && lineLength(bytes) <= LINE_BYTES_MAX;
}

const NEWLINE = 0x0a;
const NO_BYTES = Buffer.alloc(0);

/** Lines of a chunk without their line ends; the last one may have none. */
export function* splitLines(lines: Buffer): Generator<Buffer> {
  let start = 0;
  while (start < lines.length) {
    // Nothing but line ends can fill a body: they are passed over twenty times as fast as a search is begun.
    if (lines[start] === NEWLINE) {
      yield NO_BYTES;
      start++;
      continue;
    }
    const newline = lines.indexOf(NEWLINE, start);
    const end = newline < 0 ? lines.length : newline;
    yield lines.subarray(start, end);
    start = end + 1;
  }
}
