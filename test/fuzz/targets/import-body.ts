import zlib from "node:zlib";
import fc from "fast-check";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { damaged, hostileText, addressText, timeValue, userAgent } from "../values.js";

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

/** A line as bytes, or as a text that is sent in UTF-8; neither has a line end. */
type ImportLine = string | Uint8Array;

const anyValue = fc.oneof(hostileText, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.constant(undefined));

/** Mostly of the kind that belongs there. */
function mostly(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: values }, { weight: 1, arbitrary: anyValue });
}

const headers = fc.array(
  fc.record({
    name: fc.oneof(fc.constantFrom("User-Agent", "referer", "x"), hostileText),
    value: hostileText,
  }),
  { maxLength: 3 },
);

const uniqueId = fc.oneof(
  fc.integer({ min: 0, max: 400 }).map((id) => `id-${id}`),
  fc.maxSafeNat(),
  hostileText,
);

const variables = fc.dictionary(hostileText, fc.oneof(hostileText, fc.jsonValue({ maxDepth: 3 })), {
  maxKeys: 4,
});
const manyVariables = fc
  .tuple(hostileText, fc.integer({ min: 60, max: 70 }))
  .map(([name, count]) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at])));

/** Lines of events of these artifacts, right and wrong in every way, and lines that are none. */
export function importLine(artifacts: readonly KnownArtifact[]): fc.Arbitrary<ImportLine> {
  const named = fc.constantFrom(...artifacts).map(({ kind, id }) => ({ [`$${kind}`]: id }));
  const fields = fc.record(
    {
      $time: mostly(timeValue),
      $unique_id: mostly(uniqueId),
      $remote_address: mostly(addressText),
      $user_agent: mostly(userAgent),
      $referrer: mostly(hostileText),
      $version: mostly(hostileText),
      $type: mostly(fc.oneof(fc.constant("file-download"), hostileText)),
      $domain: mostly(hostileText),
      $headers: mostly(headers),
    },
    { requiredKeys: ["$time"] },
  );
  const unknown = fc.dictionary(
    hostileText.map((name) => `$${name}`),
    anyValue,
    { maxKeys: 2 },
  );
  const others = fc.oneof(
    { weight: 20, arbitrary: variables },
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: manyVariables },
    { weight: 1, arbitrary: unknown },
  );
  const ids = fc.oneof({ weight: 20, arbitrary: named }, { weight: 1, arbitrary: fc.constant({}) });
  const event = fc.tuple(ids, fields, others).map((parts) => JSON.stringify(Object.assign({}, ...parts)));
  return fc
    .oneof(
      { weight: 40, arbitrary: event },
      { weight: 4, arbitrary: damaged(event) },
      { weight: 2, arbitrary: hostileText },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.constantFrom("", " ", "\t", " \t ") },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    )
    .map(withoutLineEnds);
}

function withoutLineEnds(line: ImportLine): ImportLine {
  return typeof line === "string"
    ? line.replaceAll("\n", " ")
    : line.map((byte) => (byte === 10 ? 32 : byte));
}
