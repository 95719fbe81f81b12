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

const type = avro.Type.forSchema(
  JSON.parse(readFileSync(assetUrl("schemas/raw-chunk.avsc"), "utf8")) as avro.Schema,
);

export function encodeRawChunk(chunk: RawChunk): Buffer {
  return type.toBuffer(chunk);
}

/** @throws when the bytes are not a chunk of this schema */
export function decodeRawChunk(bytes: Uint8Array): RawChunk {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return type.fromBuffer(buffer) as RawChunk;
}
