import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createUnzip } from "node:zlib";
import { textDecoder } from "../../../schemas/text-decoder.js";

export const RESPONSE_BYTES_MAX = 2_048;

type SaidBody = AsyncIterable<Buffer> & { headers: IncomingHttpHeaders };

/** Reads until the end, a break, the time limit or the size limit. None of these is an error. */
export async function readSaidBody(response: SaidBody): Promise<string> {
  const { "content-encoding": encoding = "", "content-type": type } = response.headers;
  const unpack = UNPACKING[encoding.trim().toLowerCase()]?.();
  const received = await readSome(response, unpack === undefined ? RESPONSE_BYTES_MAX : PACKED_BYTES_MAX);
  // A body that is not packed as it says stays as it is.
  const plain = unpack === undefined ? received : ((await unpacked(received, unpack)) ?? received);
  return printable(plain.subarray(0, RESPONSE_BYTES_MAX), type);
}

/** Enough for the first 2048 bytes of a text. */
const PACKED_BYTES_MAX = 16 * 1024;

/** Takes what was cut off for an end. */
const UNPACKING: Readonly<Record<string, () => Transform>> = {
  gzip: () => createUnzip(UNTIL_CUT),
  "x-gzip": () => createUnzip(UNTIL_CUT),
  deflate: () => createUnzip(UNTIL_CUT),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};
const UNTIL_CUT = { finishFlush: constants.Z_SYNC_FLUSH };

/** The first bytes that come, at least as many, if there are as many. */
async function readSome(body: AsyncIterable<Buffer>, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size >= bytes) break;
    }
  } catch {
    // The status decides; the log gets the part of the body that came.
  }
  return Buffer.concat(parts);
}

/** Undefined where nothing could be unpacked. Unpacks no more than a few buffers, however much it would be. */
async function unpacked(packed: Buffer, unpack: Transform): Promise<Buffer | undefined> {
  unpack.end(packed);
  const plain = await readSome(unpack as AsyncIterable<Buffer>, RESPONSE_BYTES_MAX);
  return plain.length === 0 && packed.length > 0 && unpack.errored !== null ? undefined : plain;
}

/** As UTF-8 of at most as many bytes, without a truncated character and without NUL, which PostgreSQL cannot store. */
function printable(bytes: Buffer, type: string | undefined): string {
  const read = textDecoder(type).decode(bytes, { stream: true });
  const text = Buffer.from(read.replaceAll("\0", "\ufffd"));
  return new TextDecoder().decode(text.subarray(0, RESPONSE_BYTES_MAX), { stream: true });
}
