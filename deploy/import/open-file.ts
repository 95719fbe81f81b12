import { createHash } from "node:crypto";
import { once } from "node:events";
import { open, stat } from "node:fs/promises";
import { addAbortSignal, type Readable, type Writable } from "node:stream";
import { findPacking } from "../../ingest/import/open-body.js";
import { guessFormat } from "../../schemas/records/guess-format.js";
import type { ImportFormat } from "../../schemas/records/import-format.js";
import { StartFailure } from "../process/start-failure.js";

type Encoding = "identity" | "gzip" | "zstd" | "br";

/** A file to import, or standard input. */
export interface ImportFile {
  /** As messages call it. */
  name: string;
  /** Undefined for standard input, as is the hash. */
  bytes?: number;
  /** Hexadecimal. Reads the whole file. */
  sha256?: () => Promise<string>;
  encoding: Encoding;
  /** The format that its first line is of; undefined where it is packed, or could be any. */
  looksLike: ImportFormat | undefined;
  /** The bytes as they are in the file. A part is valid until the next is asked for. A file can be read again. */
  read: () => AsyncIterable<Buffer>;
}

/**
 * Throws a StartFailure with a sentence if the file cannot be read, or is packed in a way that the server cannot take. Once
 * the signal aborts, reading ends with its reason.
 */
export async function openFile(path: string, signal: AbortSignal): Promise<ImportFile> {
  if (path === "-") return openInput(process.stdin, signal);
  const { bytes, head } = await lookAt(path);
  const read = () => readParts(path, signal);
  return { name: path, bytes, sha256: () => hashOf(read()), ...look(head, path), read };
}

async function lookAt(path: string): Promise<{ bytes: number; head: Buffer }> {
  try {
    const { size } = await stat(path);
    return { bytes: size, head: await firstBytes(path) };
  } catch (error) {
    throw new StartFailure(sentenceOf(error, path), { cause: error });
  }
}

const READ_BYTES = 256 * 1024;

async function* readParts(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  await using file = await open(path);
  const part = Buffer.allocUnsafeSlow(READ_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(part);
    if (bytesRead === 0) return;
    yield part.subarray(0, bytesRead);
  }
}

/** As `openFile`, of what somebody types or a pipe sends. */
export async function openInput(input: Readable, signal: AbortSignal): Promise<ImportFile> {
  // Somebody who types may never send another line.
  addAbortSignal(signal, input);
  const parts = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await parts.next().catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
  const head = first.done ? Buffer.alloc(0) : first.value;
  const name = "standard input";
  return {
    name,
    ...look(head, name),
    async *read() {
      yield head;
      yield* { [Symbol.asyncIterator]: () => parts };
    },
  };
}

function sentenceOf(error: unknown, path: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return `The file ${path} does not exist.`;
  if (code === "EACCES") return `${path} cannot be read by this user.`;
  if (code === "EISDIR") return `${path} is a folder. Pass the files in it instead.`;
  return `${path} cannot be read: ${String(error)}.`;
}

/** Has the first line of most files. */
const HEAD_BYTES = 8 * 1024;

async function firstBytes(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** The commands that unpack what the server does not take. */
const UNPACK = { zip: "unzip -p", bzip2: "bzip2 -dc", xz: "xz -dc" } as const;

function look(head: Buffer, name: string): Pick<ImportFile, "encoding" | "looksLike"> {
  const encoding = encodingOf(head, name);
  const looksLike =
    encoding === "identity" ? guessFormat(head.subarray(0, HEAD_BYTES).toString()) : undefined;
  return { encoding, looksLike };
}

function encodingOf(head: Buffer, name: string): Encoding {
  const packing = findPacking(head);
  // Brotli has no signature.
  if (packing === undefined) return name.endsWith(".br") ? "br" : "identity";
  if (packing === "gzip" || packing === "zstd") return packing;
  throw new StartFailure(
    `${name} uses an unsupported compression format. Decompress it first: ${unpackedBy(UNPACK[packing], name)}`,
  );
}

async function hashOf(source: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of source) hash.update(part);
  return hash.digest("hex");
}

function unpackedBy(command: string, name: string): string {
  return `${command} ${name} | maintainer-toolchain import - ...`;
}

/**
 * Writes all parts, and takes the next one only when the last is written: a source may then fill one buffer again and
 * again. With `pipeline`, which reads ahead, a file of any size leaves some 35 MB of buffers to collect. An error of the
 * source destroys `to`.
 */
export async function writeAll(source: AsyncIterable<Buffer>, to: Writable): Promise<void> {
  try {
    for await (const part of source)
      await new Promise<void>((resolve, reject) =>
        to.write(part, (error) => (error ? reject(error) : resolve())),
      );
    to.end();
    await once(to, "finish");
  } catch (error) {
    to.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}
