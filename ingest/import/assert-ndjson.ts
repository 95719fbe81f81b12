import { pause } from "../../schemas/async/pause.js";
import { Problem } from "../../schemas/problem.js";
import { findPacking, type Packing } from "./open-body.js";

/** A header of CSV fits in this. */
const HEAD_BYTES = 4 * 1024;
/** A sender that is slower, or idle for longer than it may be, is not waited for: its lines are then refused one by one. */
const WAIT_MS_MAX = 10_000;

/** Gives back the whole body. @throws Problem not-ndjson for one in another format, before its first part */
export async function* assertNdjson(
  body: AsyncIterable<Buffer>,
  { contentType = "", idleMsMax = Infinity }: { contentType?: string; idleMsMax?: number | undefined } = {},
): AsyncGenerator<Buffer> {
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const read: Promise<IteratorResult<Buffer, undefined>>[] = [];
  let head = Buffer.alloc(0);
  const decided = new AbortController();
  const readHead = async () => {
    while (!decided.signal.aborted && head.length < HEAD_BYTES && !head.includes("\n")) {
      const next = parts.next();
      read.push(next);
      const { done, value } = await next;
      if (done) return;
      head = Buffer.concat([head, value]);
    }
  };
  const waitMs = Math.min(WAIT_MS_MAX, idleMsMax);
  await Promise.race([readHead().catch(() => undefined), pause(waitMs, { signal: decided.signal })]);
  decided.abort();
  const sentence = sentenceOf(head, contentType);
  try {
    if (sentence !== undefined) throw new Problem("not-ndjson", sentence);
    for (const next of read) {
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
    for (;;) {
      const { done, value } = await parts.next();
      if (done) return;
      yield value;
    }
  } finally {
    await parts.return?.();
  }
}

const PACKED: Partial<Record<Packing, string>> = {
  gzip: "The body is packed with gzip: send it with Content-Encoding: gzip.",
  zstd: "The body is packed with zstd: unpack it, or send it with Content-Encoding: zstd where that is supported.",
  zip: "The body is a zip file: unpack it, and pack its lines with gzip if they should be packed.",
};

function sentenceOf(head: Buffer, contentType: string): string | undefined {
  const packing = findPacking(head);
  const packed = packing && PACKED[packing];
  if (packed !== undefined) return packed;
  const [line = ""] = head
    .toString()
    .replace(/^\ufeff/, "")
    .trimStart()
    .split("\n", 1);
  if (line.startsWith("["))
    return "The body is a JSON array: send one object a line. `jq -c '.[]'` turns the array into lines.";
  if (isCsvHeader(line))
    return (
      "The body is CSV: send one JSON object a line. " +
      "`maintainer-toolchain import FILE --format csv` turns the rows into lines."
    );
  if (contentType.startsWith("application/x-www-form-urlencoded") && /^\{.*\}\s*\{/.test(line))
    return "The lines were joined, as `curl -d @file` does: send them with `-T file` or `--data-binary @file`.";
  return undefined;
}

/** Names between commas, semicolons or tabs, one of which is that of a time. */
function isCsvHeader(line: string): boolean {
  const names = line
    .trim()
    .split(/[,;\t]/)
    .map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
  return (
    names.length > 1 &&
    names.every((name) => /^[$\w. -]{0,100}$/.test(name)) &&
    names.some((name) => /^\$?(?:time|timestamp|date|datetime|created_at)$/i.test(name))
  );
}
