import { readFileSync } from "node:fs";
import avro from "avsc";
import { assetUrl } from "./asset.js";

/** See raw-chunk.avsc, where each field is described. */
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
  codec: "none";
  lines: Buffer;
}

const schema = JSON.parse(readFileSync(assetUrl("schemas/raw-chunk.avsc"), "utf8")) as {
  name: string;
  fields: { name: string }[];
};
const type = avro.Type.forSchema(schema as avro.Schema);

/** What stands before the lines and says whose they are. */
export type ChunkHead = Omit<RawChunk, "codec" | "lines">;

const headFields = schema.fields.slice(
  0,
  schema.fields.findIndex(({ name }) => name === "codec"),
);
const headType = avro.Type.forSchema({ ...schema, name: "RawChunkHead", fields: headFields } as avro.Schema);

export function encodeRawChunk(chunk: RawChunk): Buffer {
  return type.toBuffer(chunk);
}

/** @throws when the bytes are not a chunk of this schema */
export function decodeRawChunk(bytes: Uint8Array): RawChunk {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return type.fromBuffer(buffer) as RawChunk;
}

/** As much as says whose lines they are, of a record that may be damaged behind that, or of a codec not known here. */
export function decodeChunkHead(bytes: Uint8Array): ChunkHead | undefined {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoded: { value: ChunkHead; offset: number } = headType.decode(buffer, 0);
    return decoded.offset > 0 ? decoded.value : undefined;
  } catch {
    return undefined;
  }
}
