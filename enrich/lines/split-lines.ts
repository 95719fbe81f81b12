import { isBlank } from "../../schemas/records/import-line.js";

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
