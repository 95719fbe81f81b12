import { isBlank } from "../../schemas/records/import-line.js";

const NEWLINE = 0x0a;
/** Many tiny parts are concatenated before the list costs more memory than their bytes. */
const PARTS_HELD_MAX = 1024;
/** One `indexOf` costs about as much as a loop over this many bytes. */
const BYTES_PER_SEARCH = 64;

export interface CutLimits {
  /** A chunk ends at the last newline once it has this many bytes. */
  bytesTarget: number;
  /** A longer line is shortened to this plus one byte and a CR, so that enrichment still sees that it is too long. */
  lineBytesMax: number;
}

/** Whole lines of a body, unchanged. */
export interface Chunk {
  bytes: Buffer;
  /** 1-based number of the first line, blank lines counted. */
  firstLine: number;
  lineEnds: number;
  /** How many of the lines are not blank. */
  events: number;
  /** Of blank lines, with their ends. */
  blankBytes: number;
}

/** Cuts a byte stream after newlines into chunks of about `bytesTarget`, counting lines; parses nothing. */
export async function* cutChunks(
  bytes: AsyncIterable<Buffer>,
  { bytesTarget, lineBytesMax }: CutLimits,
): AsyncGenerator<Chunk> {
  let held: Buffer[] = [];
  let size = 0;
  /** Bytes up to the last newline, remembered so that a line without an end is not searched again with every part. */
  let whole = 0;
  let firstLine = 1;
  for await (const part of withShortLines(bytes, lineBytesMax + 2)) {
    const newline = part.lastIndexOf(NEWLINE);
    if (newline >= 0) whole = size + newline + 1;
    held.push(part);
    size += part.length;
    if (held.length >= PARTS_HELD_MAX) held = [Buffer.concat(held, size)];
    if (size < bytesTarget || whole === 0) continue;
    const all = Buffer.concat(held, size);
    const lines = all.subarray(0, whole);
    const counts = countLines(lines);
    yield { bytes: lines, firstLine, ...counts };
    firstLine += counts.lineEnds;
    held = whole < size ? [all.subarray(whole)] : [];
    size -= whole;
    whole = 0;
  }
  if (size === 0) return;
  const rest = Buffer.concat(held, size);
  yield { bytes: rest, firstLine, ...countLines(rest) };
}

/** Drops the bytes of a line above `lineBytesMax`, which bounds the memory for a line without an end. */
async function* withShortLines(bytes: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<Buffer> {
  let lineBytes = 0;
  for await (const part of bytes) {
    if (lineBytes + part.length <= lineBytesMax) {
      yield part;
      const afterLast = part.lastIndexOf(NEWLINE) + 1;
      lineBytes = afterLast === 0 ? lineBytes + part.length : part.length - afterLast;
      continue;
    }
    const shortened = shortenLines(part, lineBytes, lineBytesMax);
    lineBytes = shortened.lineBytes;
    yield* shortened.pieces;
  }
}

function shortenLines(
  part: Buffer,
  before: number,
  lineBytesMax: number,
): { pieces: Buffer[]; lineBytes: number } {
  const pieces: Buffer[] = [];
  let lineBytes = before;
  let start = 0;
  while (start < part.length) {
    const newline = part.indexOf(NEWLINE, start);
    const end = newline < 0 ? part.length : newline;
    const room = Math.max(0, lineBytesMax - lineBytes);
    if (room > 0 && end > start) pieces.push(part.subarray(start, Math.min(end, start + room)));
    if (newline >= 0) pieces.push(part.subarray(newline, newline + 1));
    lineBytes = newline < 0 ? lineBytes + (end - start) : 0;
    start = end + 1;
  }
  return { pieces, lineBytes };
}

/** Searches for each newline, and switches to a byte loop when lines are so short that the loop is faster. */
function countLines(bytes: Buffer): Omit<Chunk, "bytes" | "firstLine"> {
  const searchesMax = bytes.length / BYTES_PER_SEARCH;
  let lineEnds = 0;
  let events = 0;
  let blankBytes = 0;
  for (let start = 0; start < bytes.length;) {
    const newline = lineEnds < searchesMax ? bytes.indexOf(NEWLINE, start) : stepToNewline(bytes, start);
    const end = newline < 0 ? bytes.length : newline;
    if (newline >= 0) lineEnds++;
    if (!isBlank(bytes, start, end)) events++;
    else blankBytes += end + 1 - start;
    start = end + 1;
  }
  return { lineEnds, events, blankBytes };
}

function stepToNewline(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== NEWLINE) at++;
  return at < bytes.length ? at : -1;
}
