import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { ApiContext } from "../route.js";

/** A longer answer is sent while it is read. */
const HELD_CHARACTERS_MAX = 256 * 1024;

/**
 * Answers a JSON array whose entries are read a few at a time, each few only once those before are sent: a long list
 * takes no more memory than a short one. `tag` is the ETag of the whole. A failure midway breaks the connection.
 */
export async function answerArray(
  ctx: ApiContext,
  parts: AsyncIterable<readonly object[]>,
  tag: string,
): Promise<void> {
  ctx.type = "application/json";
  ctx.set("ETag", tag);
  const text = arrayText(parts);
  let held = "";
  while (held.length <= HELD_CHARACTERS_MAX) {
    const next = await text.next();
    if (next.done === true) return void (ctx.body = Buffer.from(held));
    held += next.value;
  }
  putStream(ctx, Readable.from(continued(held, text)));
}

async function* arrayText(parts: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let before = "[";
  for await (const part of parts) {
    if (part.length === 0) continue;
    yield before + part.map((entry) => JSON.stringify(entry)).join(",");
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

async function* continued(held: string, text: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  yield Buffer.from(held);
  for await (const part of text) yield Buffer.from(part);
}

function putStream(ctx: ApiContext, stream: Readable): void {
  ctx.vary("Accept-Encoding");
  const type = ctx.response.get("Content-Type");
  const isPacked = ctx.acceptsEncodings("gzip", "identity") === "gzip";
  if (isPacked) ctx.set("Content-Encoding", "gzip");
  ctx.body = isPacked ? stream.compose(createGzip({ level: 1 })) : stream;
  ctx.set("Content-Type", type);
}
