import { hasHeader, type ImportFormat } from "../../schemas/records/import-format.js";
import { Problem } from "../../schemas/problem.js";
import { type Chunk, cutChunks, type CutLimits } from "./cut-chunks.js";

/** Every chunk carries the header: a longer one would be most of the event log. */
export const HEADER_LINE_BYTES_MAX = 64 * 1024;

/** Whole lines, and the line of the body that names their columns, where the format has one. */
export interface FormattedChunk extends Chunk {
  header: string;
}

/**
 * As `cutChunks`. A header that is the first line is no line of a chunk, and counted in the lines' numbers. @throws
 * Problem invalid-body for a header above 64 KiB
 */
export async function* cutFormat(
  body: AsyncIterable<Buffer>,
  { format, ...limits }: CutLimits & { format: ImportFormat },
): AsyncGenerator<FormattedChunk> {
  if (hasHeader(format)) {
    const { header, rest } = await takeFirstLine(body);
    for await (const chunk of cutChunks(rest, limits))
      yield { ...chunk, firstLine: chunk.firstLine + 1, header };
    return;
  }
  let header = "";
  for await (const chunk of cutChunks(body, limits)) {
    yield { ...chunk, header };
    if (format === "cloudfront") header = lastFields(chunk.bytes) ?? header;
  }
}

const NEWLINE = 0x0a;

async function takeFirstLine(
  body: AsyncIterable<Buffer>,
): Promise<{ header: string; rest: AsyncIterable<Buffer> }> {
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  let head = Buffer.alloc(0);
  let end = -1;
  try {
    while (end < 0) {
      const { done, value } = await parts.next();
      if (done) break;
      head = Buffer.concat([head, value]);
      end = head.indexOf(NEWLINE);
      if ((end < 0 ? head.length : end) > HEADER_LINE_BYTES_MAX) throw headerTooLong();
    }
  } catch (error) {
    await parts.return?.();
    throw error;
  }
  const first = end < 0 ? head : head.subarray(0, end);
  const rest = end < 0 ? Buffer.alloc(0) : head.subarray(end + 1);
  return { header: withoutEnd(first), rest: continued(rest, parts) };
}

async function* continued(first: Buffer, parts: AsyncIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
  try {
    if (first.length > 0) yield first;
    yield* { [Symbol.asyncIterator]: () => parts };
  } finally {
    await parts.return?.();
  }
}

function headerTooLong(): Problem {
  const kib = HEADER_LINE_BYTES_MAX / 1024;
  return new Problem("invalid-body", `The first line is the header of the columns: it may have ${kib} KiB.`);
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
