import avro from "avsc";
import { readFileSync } from "node:fs";
import { assetUrl } from "../asset.js";
import { isImportFormat, type LineFormat } from "./import-format.js";

/** See raw-chunk.avsc, which describes each field. */
export interface RawChunk extends LineFormat {
  source: "import" | "collect";
  ownerId: string;
  accountId: string;
  artifactKind: "package" | "pixel" | "any";
  artifactId: string;
  importId: string;
  sequence: number;
  firstLine: number;
  receiptStamp: number;
  codec: Codec;
  lines: Buffer;
}

const schema = JSON.parse(readFileSync(assetUrl("schemas/records/raw-chunk.avsc"), "utf8")) as {
  name: string;
  fields: { name: string }[];
};
const type = avro.Type.forSchema(schema as avro.Schema);

/** The fields before the lines, which identify their import and artifact. */
export type ChunkHead = Omit<RawChunk, "codec" | "lines">;

const codecIndex = schema.fields.findIndex(({ name }) => name === "codec");
const headType = beginningOf("RawChunkHead", codecIndex);
const headAndCodecType = beginningOf("RawChunkHeadAndCodec", codecIndex + 1);

export function encodeRawChunk(chunk: RawChunk): Buffer {
  return type.toBuffer(chunk);
}

/**
 * Throws if the bytes are not a chunk. The lines are a view of them: a batch is in memory once, not twice.
 */
export function decodeRawChunk(bytes: Uint8Array): RawChunk {
  const buffer = asBuffer(bytes);
  const decoded: { value: Omit<RawChunk, "lines">; offset: number } = headAndCodecType.decode(buffer, 0);
  const { value, offset } = decoded;
  const lines = bytesFieldAt(buffer, Math.max(0, offset));
  if (offset < 0 || lines.end !== buffer.length) throw new Error("its length does not match its fields");
  const format: string = value.format;
  if (!isImportFormat(format)) throw new Error(`its lines have an unknown format, ${format}`);
  return { ...value, lines: buffer.subarray(lines.start, lines.end) };
}

export function decodeChunkHead(bytes: Uint8Array): ChunkHead | undefined {
  return decodeBeginning<ChunkHead>(headType, bytes)?.value;
}

/** The codec and the first encoded bytes of the lines, without reading or copying the rest. */
export function peekLines(bytes: Uint8Array): Pick<RawChunk, "codec" | "lines"> | undefined {
  const head = decodeBeginning<Pick<RawChunk, "codec">>(headAndCodecType, bytes);
  if (head === undefined) return undefined;
  const buffer = asBuffer(bytes);
  return { codec: head.value.codec, lines: buffer.subarray(bytesFieldAt(buffer, head.offset).start) };
}

/**
 * Avro's type `bytes` begins with a long: seven bits a byte, the lowest first, all but the last with the
 * highest bit set; the value is twice the length.
 */
function bytesFieldAt(buffer: Buffer, offset: number): { start: number; end: number } {
  let at = offset;
  let factor = 1;
  let twice = 0;
  for (; (buffer[at] ?? 0) & 0x80; at++, factor *= 0x80) twice += ((buffer[at] ?? 0) & 0x7f) * factor;
  twice += (buffer[at] ?? 0) * factor;
  return { start: at + 1, end: at + 1 + twice / 2 };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function beginningOf(name: string, fields: number): avro.Type {
  return avro.Type.forSchema({ ...schema, name, fields: schema.fields.slice(0, fields) } as avro.Schema);
}

function decodeBeginning<T>(from: avro.Type, bytes: Uint8Array): { value: T; offset: number } | undefined {
  try {
    const decoded: { value: T; offset: number } = from.decode(asBuffer(bytes), 0);
    return decoded.offset > 0 ? decoded : undefined;
  } catch {
    return undefined;
  }
}

/** How the lines of a chunk are compressed, in the order of the symbols in raw-chunk.avsc. */
export const CODECS = ["none", "lz4", "brotli"] as const;
export type Codec = (typeof CODECS)[number];
