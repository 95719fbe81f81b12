import { cutChunks } from "../../../ingest/import/cut-chunks.js";
import { CHUNK_LIMITS } from "../../../ingest/import/receive-import.js";
import { linesOf, packChunk } from "../../../schemas/records/chunk-codec.js";
import { NDJSON } from "../../../schemas/records/import-format.js";
import { CODECS, type Codec, type RawChunk } from "../../../schemas/records/raw-chunk.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import { mixOf } from "../common/event-files.js";
import { median } from "../common/median.js";

/** The compression ratio of a codec on the chunks of an import, and its CPU time. */
export interface CodecCost {
  codec: Codec;
  /** Plain bytes over compressed bytes. */
  bytesRatio: number;
  packMicrosecondsPerEvent: number;
  unpackMicrosecondsPerEvent: number;
}

const REPEATS = 3;

/** Measures each codec on generated events, in the chunks of an import. */
export async function measureCodecs(seed: number): Promise<CodecCost[]> {
  const chunks: RawChunk[] = [];
  for await (const { bytes, firstLine } of cutChunks(bodyOf(seed), CHUNK_LIMITS))
    chunks.push({ ...HEAD, firstLine, lines: bytes });
  const costs: CodecCost[] = [];
  for (const codec of CODECS) costs.push(await measureCodec(codec, chunks));
  return costs;
}

/** 23 MB, which is enough because more events have the same shape. */
async function* bodyOf(seed: number): AsyncGenerator<Buffer> {
  yield* generateBody(mixOf({ events: 100_000, seed, packageIds: ["00000000-0000-0000-0000-000000000000"] }));
}

const HEAD: Omit<RawChunk, "firstLine" | "lines"> = {
  source: "import",
  ownerId: "",
  accountId: "",
  artifactKind: "package",
  artifactId: "",
  importId: "",
  sequence: 0,
  receiptStamp: 0,
  ...NDJSON,
  codec: "none",
};

async function measureCodec(codec: Codec, chunks: readonly RawChunk[]): Promise<CodecCost> {
  const events = chunks.reduce((sum, { lines }) => sum + countLines(lines), 0);
  let packed: RawChunk[] = [];
  const pack: number[] = [];
  const unpack: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const before = process.cpuUsage();
    packed = [];
    for (const chunk of chunks) packed.push(await packChunk(chunk, codec));
    pack.push(microsecondsSince(before) / events);
    const between = process.cpuUsage();
    for (const chunk of packed) linesOf(chunk);
    unpack.push(microsecondsSince(between) / events);
  }
  return {
    codec,
    bytesRatio: bytesOf(chunks) / bytesOf(packed),
    packMicrosecondsPerEvent: median(pack),
    unpackMicrosecondsPerEvent: median(unpack),
  };
}

function countLines(lines: Buffer): number {
  return lines.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
}

/** CPU time of all threads of this process, because codecs run on other threads. */
function microsecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function bytesOf(chunks: readonly RawChunk[]): number {
  return chunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
