import { finished, type Duplex, type Readable } from "node:stream";
import zlib from "node:zlib";
import { formatBytes } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";

type Decoder = Duplex & { bytesWritten: number };
type ZlibWithZstd = typeof zlib & {
  createZstdDecompress?: (options: { params: Record<number, number> }) => Decoder;
};
const createZstd = (zlib as ZlibWithZstd).createZstdDecompress;
/** `ZSTD_d_windowLogMax` of zstd.h, which the constants of older Nodes do not have. */
const ZSTD_WINDOW_LOG_MAX = 100;
/** 8 MiB, the most that RFC 9659 allows in a Content-Encoding. The decoder allocates what a frame asks for, up to 128 MiB. */
const WINDOW_LOG = 23;

const CHUNK_BYTES = 256 * 1024;

const DECODERS = new Map<string, () => Decoder>([
  ["gzip", () => zlib.createGunzip({ chunkSize: CHUNK_BYTES })],
  ["x-gzip", () => zlib.createGunzip({ chunkSize: CHUNK_BYTES })],
  ["deflate", () => zlib.createInflate({ chunkSize: CHUNK_BYTES })],
  ["br", () => zlib.createBrotliDecompress({ chunkSize: CHUNK_BYTES })],
  ...(createZstd === undefined
    ? []
    : [["zstd", () => createZstd({ params: { [ZSTD_WINDOW_LOG_MAX]: WINDOW_LOG } })] as const]),
]);

/** Makes a decompressor for a `Content-Encoding`; undefined if this Node has none. */
export function decoderFor(encoding: string): (() => Decoder) | undefined {
  return DECODERS.get(encoding);
}

/** The supported encodings, for `Accept-Encoding` of a refusal. */
export const CONTENT_ENCODINGS = [...DECODERS.keys()].filter((name) => !name.startsWith("x-"));

/** The default limit of a decompressed body: 20 GiB. */
export const BODY_BYTES_MAX = 20 * 2 ** 30;

export interface BodyLimits {
  contentEncoding?: string | undefined;
  bytesMax?: number | undefined;
  /** Called with the size of each part as it was sent. */
  onReceived?: ((bytes: number) => void) | undefined;
}

/**
 * Reads no faster than the decompressed parts are consumed. The iteration throws when the sender closes the
 * connection, when the compressed data ends early, above `bytesMax` decompressed bytes (Problem too-large), and
 * for a zstd window above 8 MiB (Problem invalid-body). @throws Problem unsupported-encoding
 */
export function openBody(
  request: Readable,
  { contentEncoding, bytesMax = BODY_BYTES_MAX, onReceived = () => undefined }: BodyLimits = {},
): AsyncIterable<Buffer> {
  return limited(openDecoded(request, { contentEncoding, onReceived }), bytesMax);
}

function openDecoded(
  request: Readable,
  { contentEncoding = "", onReceived }: { contentEncoding?: string | undefined; onReceived: OnReceived },
): AsyncIterable<Buffer> {
  const encoding = contentEncoding.trim().toLowerCase() || "identity";
  if (encoding === "identity") return readBody(request, () => counted(request, onReceived));
  const createDecoder = decoderFor(encoding);
  const isPadded = encoding.endsWith("gzip");
  if (createDecoder !== undefined)
    return readBody(request, () => decode(request, createDecoder(), { onReceived, isPadded }));
  throw new Problem(
    "unsupported-encoding",
    `Content-Encoding ${encoding.slice(0, 40)} is not supported. Use one of ${CONTENT_ENCODINGS.join(", ")}.`,
  );
}

type OnReceived = (bytes: number) => void;

async function* counted(request: Readable, onReceived: OnReceived): AsyncGenerator<Buffer> {
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    onReceived(part.length);
    yield part;
  }
}

/** Counts decompressed bytes, so a small body that expands a lot is refused too. */
async function* limited(body: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > bytesMax) throw bodyTooLarge(bytesMax);
    yield part;
  }
}

function bodyTooLarge(bytesMax: number): Problem {
  return new Problem(
    "too-large",
    `The decompressed body is larger than ${formatBytes(bytesMax)}, the limit for one import.`,
  );
}

async function* readBody(
  request: Readable,
  open: () => AsyncIterable<Buffer> | AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    yield* open() as AsyncIterable<Buffer>;
  } finally {
    // Destroying the request would close its connection before the answer. The rest of the body is dropped instead.
    request.unpipe();
    request.resume();
  }
}

/** Does not use `pipeline`, which destroys the request when the decoder fails. */
async function* decode(
  request: Readable,
  decoder: Decoder,
  { onReceived, isPadded }: { onReceived: OnReceived; isPadded: boolean },
): AsyncGenerator<Buffer> {
  let bytesReceived = 0;
  let zerosAtEnd = 0;
  finished(request, { writable: false }, (error) => {
    if (error) decoder.destroy(error);
  });
  request.on("data", (part: Buffer) => {
    bytesReceived += part.length;
    zerosAtEnd = zerosAfter(part, zerosAtEnd);
    onReceived(part.length);
  });
  request.pipe(decoder);
  try {
    yield* decoder as AsyncIterable<Buffer>;
  } catch (error) {
    throw isWindowTooLarge(error) ? windowTooLarge(error) : error;
  }
  // Decoders ignore bytes after the end of the compressed data, so these would be lost silently. Zeros after gzip
  // fill a last block, and gzip(1) ignores them as well.
  const isMore = () => bytesReceived - (isPadded ? zerosAtEnd : 0) > decoder.bytesWritten;
  request.unpipe(decoder);
  for await (const _ of request.iterator({ destroyOnReturn: false })) if (!isPadded || isMore()) break;
  if (isMore()) throw new BytesAfterEnd();
}

function zerosAfter(part: Buffer, before: number): number {
  let start = part.length;
  while (start > 0 && part[start - 1] === 0) start--;
  return part.length - start + (start === 0 ? before : 0);
}

function isWindowTooLarge(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && error.code === "ZSTD_error_frameParameter_windowTooLarge"
  );
}

function windowTooLarge(cause: unknown): Problem {
  return new Problem(
    "invalid-body",
    `The body requires a zstd window larger than ${formatBytes(2 ** WINDOW_LOG)}. Compress it without ` +
      "--long and --ultra.",
    { cause },
  );
}

class BytesAfterEnd extends Error {
  readonly code = "Z_DATA_ERROR";
  constructor() {
    super("there is data after the end of the compressed data");
  }
}

export type Packing = "gzip" | "zstd" | "zip" | "bzip2" | "xz";

/** How packed files begin. Sources: RFC 1952, RFC 8878, section 4.3.7 of APPNOTE.TXT, the formats of bzip2 and xz. */
const SIGNATURES: readonly [hex: string, packing: Packing][] = [
  ["1f8b", "gzip"],
  ["28b52ffd", "zstd"],
  ["504b0304", "zip"],
  ["425a68", "bzip2"],
  ["fd377a585a00", "xz"],
];

const SIGNATURE_BYTES = 6;

/** How a body or a file is packed, by its first bytes. Undefined for text, and for Brotli, which has no signature. */
export function findPacking(head: Buffer): Packing | undefined {
  const hex = head.subarray(0, SIGNATURE_BYTES).toString("hex");
  return SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1];
}
