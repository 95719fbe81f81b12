import { LINE_BYTES_MAX } from "../../schemas/records/import-limits.js";

/** A line without its line end. */
export interface NumberedLine {
  bytes: Buffer;
  /** 1-based in its import, blank lines counted. */
  line: number;
}

/** The lines that are not blank; `firstLine` is the number of the first one. */
export function* numberLines(lines: Buffer, firstLine: number): Generator<NumberedLine> {
  let line = firstLine;
  for (const bytes of splitLines(lines)) {
    if (!isBlank(bytes)) yield { bytes, line };
    line++;
  }
}

const NEWLINE = 0x0a;
const NO_BYTES = Buffer.alloc(0);

/** Lines without their line ends; the last one may have none. */
export function* splitLines(lines: Buffer): Generator<Buffer> {
  let start = 0;
  while (start < lines.length) {
    // A body may be all line ends: this check is twenty times as fast as a search for the next one.
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

const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

/** A line that was cut short is not blank, whatever it begins with: the rest may have been anything. */
export function isBlank(bytes: Buffer): boolean {
  const first = bytes[0];
  if (first === undefined) return true;
  // Nearly every line is told by its first byte, and a call of `every` takes three times as long.
  if (!isSpace(first)) return false;
  return bytes.every(isSpace) && lineLength(bytes) <= LINE_BYTES_MAX;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN;
}

/** Without the CR that some systems put before the line end. */
export function lineLength(bytes: Buffer): number {
  return bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
}
