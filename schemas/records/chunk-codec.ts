import { promisify } from "node:util";
import { brotliCompress, brotliDecompressSync, constants } from "node:zlib";
import lz4 from "lz4-napi";
import type { Codec } from "./codec.js";
import { peekLines, type RawChunk } from "./raw-chunk.js";

/**
 * The most that a chunk's lines may come to: ingest makes chunks of less than half of this. Whatever a damaged or
 * forged record claims, no more is allocated for it.
 */
export const LINES_BYTES_MAX = 4 * 1024 * 1024;

/** Compresses the lines of a chunk off this thread. Lines that become no smaller stay as they are. */
export async function packChunk(chunk: RawChunk, codec: Codec): Promise<RawChunk> {
  if (codec === "none" || chunk.lines.length > LINES_BYTES_MAX) return chunk;
  const lines = await CODERS[codec].pack(chunk.lines);
  return lines.length < chunk.lines.length ? { ...chunk, codec, lines } : chunk;
}

/**
 * The lines of a chunk as they were received.
 * @throws when they are damaged, or come to more than LINES_BYTES_MAX
 */
export function linesOf({ codec, lines }: Pick<RawChunk, "codec" | "lines">): Buffer {
  if (codec === "none") return lines;
  try {
    const size = requireSize(lines);
    const unpacked = CODERS[codec].unpack(lines);
    if (unpacked.length === size) return unpacked;
    throw new Error(`${unpacked.length} bytes came out where it claims ${size}`);
  } catch (cause) {
    throw new Error(`its lines cannot be decompressed (${codec}: ${(cause as Error).message})`, { cause });
  }
}

/**
 * What a record of the event log comes to when its lines are decompressed, from its first bytes: the work of a batch
 * is bounded by this, not by its bytes in the log. Never throws; of a record that cannot be read, its own length.
 */
export function unpackedSize(record: Uint8Array): number {
  const peeked = peekLines(record);
  if (peeked === undefined || peeked.codec === "none" || peeked.lines.length < SIZE_BYTES)
    return record.length;
  return Math.max(record.length, Math.min(sizeOf(peeked.lines), LINES_BYTES_MAX));
}

/** Both begin with the size of what they hold, as 4 bytes, the lowest first. */
interface Coder {
  pack: (lines: Buffer) => Promise<Buffer>;
  /** Of a size that was checked. @throws */
  unpack: (packed: Buffer) => Buffer;
}

const SIZE_BYTES = 4;
const compressBrotli = promisify(brotliCompress);
// Level 0 packs a fifth less for a tenth of the time less, higher ones take several times as long.
const BROTLI_LEVEL = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const CODERS: Record<Exclude<Codec, "none">, Coder> = {
  // One block of LZ4. Its decoder allocates what the size says before it reads on.
  lz4: { pack: (lines) => lz4.compress(lines), unpack: (packed) => lz4.uncompressSync(packed) },
  brotli: {
    pack: async (lines) =>
      Buffer.concat([sizeBytes(lines.length), await compressBrotli(lines, BROTLI_LEVEL)]),
    unpack: (packed) =>
      brotliDecompressSync(packed.subarray(SIZE_BYTES), { maxOutputLength: Math.max(1, sizeOf(packed)) }),
  },
};

function requireSize(packed: Buffer): number {
  if (packed.length < SIZE_BYTES) throw new Error("it ends before its size");
  const size = sizeOf(packed);
  if (size > LINES_BYTES_MAX) throw new Error(`it claims ${size} bytes`);
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
