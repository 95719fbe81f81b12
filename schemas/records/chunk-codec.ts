import { promisify } from "node:util";
import { brotliCompress, brotliDecompressSync, constants } from "node:zlib";
import lz4 from "lz4-napi";
import { type Codec, peekLines, type RawChunk } from "./raw-chunk.js";

/** Ingest makes chunks of less than half of this. Bounds the allocation for a damaged or forged record. */
export const LINES_BYTES_MAX = 4 * 1024 * 1024;

/** Compresses the lines of a chunk off this thread. Lines that do not shrink stay uncompressed. */
export async function packChunk(chunk: RawChunk, codec: Codec): Promise<RawChunk> {
  if (codec === "none" || chunk.lines.length > LINES_BYTES_MAX) return chunk;
  const lines = await CODERS[codec].pack(chunk.lines);
  return lines.length < chunk.lines.length ? { ...chunk, codec, lines } : chunk;
}

/** @throws if they are damaged, or exceed LINES_BYTES_MAX */
export function linesOf({ codec, lines }: Pick<RawChunk, "codec" | "lines">): Buffer {
  if (codec === "none") return lines;
  try {
    const size = requireSize(lines);
    const unpacked = CODERS[codec].unpack(lines);
    if (unpacked.length === size) return unpacked;
    throw new Error(`it decompressed to ${unpacked.length} bytes, but declares ${size}`);
  } catch (cause) {
    throw new Error(`its lines cannot be decompressed (${codec}: ${(cause as Error).message})`, { cause });
  }
}

/** The size of a record after decompression, from its first bytes; its own length where it cannot be read. */
export function unpackedSize(record: Uint8Array): number {
  const peeked = peekLines(record);
  if (peeked === undefined || peeked.codec === "none" || peeked.lines.length < SIZE_BYTES)
    return record.length;
  return Math.max(record.length, Math.min(sizeOf(peeked.lines), LINES_BYTES_MAX));
}

/** Both codecs prefix the size of their content as 4 bytes, little-endian. */
interface Coder {
  pack: (lines: Buffer) => Promise<Buffer>;
  unpack: (packed: Buffer) => Buffer;
}

const SIZE_BYTES = 4;
const compressBrotli = promisify(brotliCompress);
// Level 0 saves a tenth of the time and compresses a fifth less. Higher levels take several times as long.
const BROTLI_LEVEL = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const CODERS: Record<Exclude<Codec, "none">, Coder> = {
  // One block of LZ4. Its decoder allocates the claimed size before it reads on.
  lz4: { pack: (lines) => lz4.compress(lines), unpack: (packed) => lz4.uncompressSync(packed) },
  brotli: {
    pack: async (lines) =>
      Buffer.concat([sizeBytes(lines.length), await compressBrotli(lines, BROTLI_LEVEL)]),
    unpack: (packed) =>
      brotliDecompressSync(packed.subarray(SIZE_BYTES), { maxOutputLength: Math.max(1, sizeOf(packed)) }),
  },
};

function requireSize(packed: Buffer): number {
  if (packed.length < SIZE_BYTES) throw new Error("it ends before its declared size can be read");
  const size = sizeOf(packed);
  if (size > LINES_BYTES_MAX) throw new Error(`it declares ${size} bytes`);
  return size;
}

function sizeOf(packed: Buffer): number {
  return packed.readUInt32LE(0);
}

function sizeBytes(size: number): Buffer {
  const bytes = Buffer.alloc(SIZE_BYTES);
  bytes.writeUInt32LE(size);
  return bytes;
}
