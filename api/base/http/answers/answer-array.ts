import type { ApiContext } from "../route.js";
import { answerRows } from "./answer-rows.js";

/** A longer answer is sent while it is read, within the limits of exports. */
const HELD_BYTES_MAX = 256 * 1024;

/**
 * Reads and sends a part at a time: some entries as JSON, without brackets. `tag` is the ETag of the whole. A failure
 * midway breaks the connection.
 */
export async function answerArray(ctx: ApiContext, parts: AsyncIterable<Buffer>, tag: string): Promise<void> {
  const pieces = bracketed(parts);
  const held: Buffer[] = [];
  for (let bytes = 0; bytes <= HELD_BYTES_MAX;) {
    const next = await pieces.next();
    if (next.done === true) {
      ctx.type = "application/json";
      ctx.set("ETag", tag);
      ctx.body = Buffer.concat(held);
      return;
    }
    held.push(next.value);
    bytes += next.value.length;
  }
  await answerRows(ctx, async () => continued(held, pieces), { format: "json" });
  ctx.set("ETag", tag);
}

async function* bracketed(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let before = "[";
  for await (const part of parts) {
    if (part.length === 0) continue;
    yield Buffer.from(before);
    yield part;
    before = ",";
  }
  yield Buffer.from(before === "[" ? "[]" : "]");
}

async function* continued(held: Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Not kept while the rest is sent.
  yield* held.splice(0);
  yield* rest;
}
