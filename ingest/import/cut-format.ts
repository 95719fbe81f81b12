import { hasHeader, type ImportFormat } from "../../schemas/records/import-format.js";
import { type Chunk, cutChunks, type CutLimits } from "./cut-chunks.js";
import { skipBlankLines } from "./skip-blank-lines.js";
import { WrongFormat } from "./wrong-format.js";

/** Every chunk carries the header: a longer one would be most of the event log. */
export const HEADER_LINE_BYTES_MAX = 64 * 1024;

/** Whole lines, and the line of the body that names their columns, where the format has one. */
export interface FormattedChunk extends Chunk {
  header: string;
}

/**
 * As `cutChunks`. A header, which is the first line that is not blank, is no line of a chunk. It and the blank lines
 * before it are counted in the lines' numbers. @throws WrongFormat for a header above 64 KiB, and for one without rows
 */
export async function* cutFormat(
  body: AsyncIterable<Buffer>,
  { format, ...limits }: CutLimits & { format: ImportFormat },
): AsyncGenerator<FormattedChunk> {
  if (hasHeader(format)) {
    const { header, lines, rest } = await takeHeader(body, format);
    let rows = 0;
    for await (const chunk of cutChunks(rest, limits)) {
      rows += chunk.events;
      yield { ...chunk, firstLine: chunk.firstLine + lines, header };
    }
    if (rows === 0 && header.trim() !== "") throw noRows(format);
    return;
  }
  let header = "";
  for await (const chunk of cutChunks(body, limits)) {
    yield { ...chunk, header };
    if (format === "cloudfront") header = lastFields(chunk.bytes) ?? header;
  }
}

const NEWLINE = 0x0a;

interface Headed {
  header: string;
  /** Up to the header, with it. */
  lines: number;
  rest: AsyncIterable<Buffer>;
}

async function takeHeader(body: AsyncIterable<Buffer>, format: ImportFormat): Promise<Headed> {
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  let head: Buffer = Buffer.alloc(0);
  let end = -1;
  let lines = 1;
  try {
    while (end < 0) {
      const { done, value } = await parts.next();
      if (done) break;
      const { blankLines, rest } = skipBlankLines(Buffer.concat([head, value]));
      lines += blankLines;
      head = rest;
      end = head.indexOf(NEWLINE);
      if ((end < 0 ? head.length : end) > HEADER_LINE_BYTES_MAX) throw headerTooLong(format);
    }
  } catch (error) {
    await parts.return?.();
    throw error;
  }
  const first = end < 0 ? head : head.subarray(0, end);
  const rest = end < 0 ? Buffer.alloc(0) : head.subarray(end + 1);
  return { header: withoutEnd(first), lines, rest: continued(rest, parts) };
}

async function* continued(first: Buffer, parts: AsyncIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
  try {
    if (first.length > 0) yield first;
    yield* { [Symbol.asyncIterator]: () => parts };
  } finally {
    await parts.return?.();
  }
}

function headerTooLong(format: ImportFormat): WrongFormat {
  const kib = HEADER_LINE_BYTES_MAX / 1024;
  return new WrongFormat(format, `The first line, the header, must not be longer than ${kib} KiB.`);
}

/** Nobody would be told of rows whose line ends were lost: all of the body is its header then. */
function noRows(format: ImportFormat): WrongFormat {
  return new WrongFormat(
    format,
    "The body has a header but no rows. Send rows below it, ending with LF or CRLF.",
  );
}

function withoutEnd(line: Buffer): string {
  return line.toString().replace(/\r$/, "");
}

const FIELDS = "#Fields:";

/** The columns of the next chunk's first lines: the last line that names some. */
function lastFields(bytes: Buffer): string | undefined {
  let at = bytes.lastIndexOf(FIELDS);
  while (at > 0 && bytes[at - 1] !== NEWLINE) at = bytes.lastIndexOf(FIELDS, at - 1);
  if (at < 0) return undefined;
  const end = bytes.indexOf(NEWLINE, at);
  return withoutEnd(bytes.subarray(at, Math.min(end < 0 ? bytes.length : end, at + HEADER_LINE_BYTES_MAX)));
}
