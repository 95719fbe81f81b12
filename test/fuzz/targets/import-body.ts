import zlib from "node:zlib";
import fc from "fast-check";
import type { ImportLine } from "./import-line.js";

/** The body of one import. */
export interface ImportBody {
  lines: ImportLine[];
  lineEnd: "\n" | "\r\n";
  endsWithLineEnd: boolean;
  encoding: Encoding;
  /** How many parts it is sent in. */
  parts: number;
}

type Encoding = keyof typeof ENCODERS;

const zstd = (zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }).zstdCompressSync;

/** Those that this Node can decode. */
const ENCODERS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => zlib.gzipSync(bytes, { level: 1 }),
  deflate: (bytes: Buffer) => zlib.deflateSync(bytes, { level: 1 }),
  br: (bytes: Buffer) =>
    zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ...(zstd && { zstd }),
};

export function importBody(
  line: fc.Arbitrary<ImportLine>,
  { linesMax }: { linesMax: number },
): fc.Arbitrary<ImportBody> {
  return fc.record({
    // Without a bias to small ones, so that bodies are of several chunks.
    lines: fc.noBias(fc.array(line, { minLength: 1, maxLength: linesMax, size: "max" })),
    lineEnd: fc.constantFrom("\n", "\r\n"),
    endsWithLineEnd: fc.boolean(),
    encoding: fc.constantFrom(...(Object.keys(ENCODERS) as Encoding[])),
    parts: fc.integer({ min: 1, max: 4 }),
  });
}

/** Its bytes before they are packed. */
export function plainBytes({ lines, lineEnd, endsWithLineEnd }: ImportBody): Buffer {
  const end = Buffer.from(lineEnd);
  const parts = lines.flatMap((line) => [Buffer.from(line as string), end]);
  return Buffer.concat(endsWithLineEnd ? parts : parts.slice(0, -1));
}

/** Its bytes as they are sent, in parts. */
export function sentParts(body: ImportBody): Buffer[] {
  const bytes = (ENCODERS[body.encoding] as (bytes: Buffer) => Buffer)(plainBytes(body));
  const size = Math.max(1, Math.ceil(bytes.length / body.parts));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}
