import { readFileSync } from "node:fs";
import avro from "avsc";
import { assetUrl } from "../asset.js";
import type { Codec } from "./codec.js";

/** See raw-chunk.avsc, which describes each field. */
export interface RawChunk {
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
  /** As the codec encoded them; `linesOf` decodes them. */
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

/** @throws if the bytes are not a chunk of this schema */
export function decodeRawChunk(bytes: Uint8Array): RawChunk {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return type.fromBuffer(buffer) as RawChunk;
}

/** Decodes only the head, so that a record with damaged lines or an unknown codec can still be attributed. */
export function decodeChunkHead(bytes: Uint8Array): ChunkHead | undefined {
  return decodeBeginning<ChunkHead>(headType, bytes)?.value;
}

/** The codec and the first encoded bytes of the lines, without reading or copying the rest. */
export function peekLines(bytes: Uint8Array): Pick<RawChunk, "codec" | "lines"> | undefined {
  const head = decodeBeginning<Pick<RawChunk, "codec">>(headAndCodecType, bytes);
  if (head === undefined) return undefined;
  let at = head.offset;
  // Skips the length of the lines: an Avro long, in which all bytes but the last have the highest bit set.
  while ((bytes[at] ?? 0) & 0x80) at++;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { codec: head.value.codec, lines: buffer.subarray(at + 1) };
}

function beginningOf(name: string, fields: number): avro.Type {
  return avro.Type.forSchema({ ...schema, name, fields: schema.fields.slice(0, fields) } as avro.Schema);
}

function decodeBeginning<T>(from: avro.Type, bytes: Uint8Array): { value: T; offset: number } | undefined {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoded: { value: T; offset: number } = from.decode(buffer, 0);
    return decoded.offset > 0 ? decoded : undefined;
  } catch {
    return undefined;
  }
}
