/** The API's refusal, in its own sentence. */
export class Refused extends Error {}

export interface Sending {
  url: string;
  packed: Packed;
  /** A repeated request with it answers the first import. */
  key: string;
  /** The part of the body that was sent, from 0 to 1. */
  onSent: (share: number) => void;
  signal: AbortSignal;
}

/** Sends an import and answers its id. By XMLHttpRequest, since `fetch` does not say how much was sent. */
export function sendBody({ url, packed, key, onSent, signal }: Sending): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Content-Type", "text/plain");
    request.setRequestHeader("Content-Encoding", packed.encoding);
    request.setRequestHeader("Idempotency-Key", key);
    request.upload.addEventListener("progress", ({ loaded, total }) =>
      onSent(total > 0 ? loaded / total : 0),
    );
    request.addEventListener("load", () => {
      const answer = parsed(request.responseText);
      if (request.status === 200 && answer.id !== undefined) resolve(answer.id);
      else reject(new Refused(answer.message ?? `The server returned status ${request.status}.`));
    });
    request.addEventListener("error", () =>
      reject(new Error("The connection was lost. Check your network and import the file again.")),
    );
    request.addEventListener("abort", () => reject(new Error("Upload stopped. Nothing was imported.")));
    signal.addEventListener("abort", () => request.abort());
    request.send(packed.body);
  });
}

function parsed(text: string): { id?: string; message?: string } {
  try {
    return JSON.parse(text) as { id?: string; message?: string };
  } catch {
    return {};
  }
}

/** `crypto.randomUUID` is absent on pages that were loaded by http from another machine. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** A body for an import, and the value of its `Content-Encoding`. */
export interface Packed {
  body: Blob;
  encoding: "gzip" | "zstd";
}

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** How a file is packed already, by its first bytes. */
export async function packingOf(file: File): Promise<Packed["encoding"] | undefined> {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const beginsWith = (magic: readonly number[]) => magic.every((byte, index) => start[index] === byte);
  if (beginsWith(GZIP)) return "gzip";
  return beginsWith(ZSTD) ? "zstd" : undefined;
}

/** Packs a file that is not packed yet. `onRead` is told the bytes that were read so far. */
export async function packFile(file: File, onRead: (bytes: number) => void): Promise<Packed> {
  const encoding = await packingOf(file);
  if (encoding !== undefined) return { body: file, encoding };
  let read = 0;
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, controller) {
      read += part.length;
      onRead(read);
      controller.enqueue(part);
    },
  });
  const packed = file.stream().pipeThrough(counted).pipeThrough(new CompressionStream("gzip"));
  return { body: await new Response(packed).blob(), encoding: "gzip" };
}

const SAMPLE_BYTES = 256 * 1024;
const SAMPLE_LINES = 1_000;

export interface Sample {
  text: string;
  isWhole: boolean;
}

/** The first whole lines of a file, unpacked; undefined where browsers cannot unpack it. */
export async function readSample(file: File): Promise<Sample | undefined> {
  const encoding = await packingOf(file);
  if (encoding === "zstd") return undefined;
  const stream = file.stream();
  const plain = encoding === "gzip" ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
  const { bytes, isWhole } = await readStart(plain.getReader());
  const text = new TextDecoder().decode(bytes);
  const lines = text.split("\n");
  if (isWhole && lines.length <= SAMPLE_LINES) return { text, isWhole };
  // A line that is longer than the sample is all there is to show.
  const whole = lines.slice(0, Math.max(1, Math.min(SAMPLE_LINES, lines.length - 1)));
  return { text: whole.join("\n"), isWhole: false };
}

async function readStart(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): Promise<{ bytes: ArrayBuffer; isWhole: boolean }> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  let isWhole = false;
  while (size < SAMPLE_BYTES && !isWhole) {
    const { value, done } = await reader.read();
    isWhole = done;
    if (value === undefined) continue;
    parts.push(value);
    size += value.length;
  }
  await reader.cancel();
  return {
    bytes: await new Blob(parts).slice(0, SAMPLE_BYTES).arrayBuffer(),
    isWhole: isWhole && size <= SAMPLE_BYTES,
  };
}
