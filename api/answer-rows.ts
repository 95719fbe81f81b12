import { Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import type { ApiContext } from "./route.js";

/** Opens a stream of lines; aborting the signal stops what makes them. */
export type OpenRows = (signal: AbortSignal) => Promise<AsyncIterable<Buffer>>;

/**
 * Answers with NDJSON as it is made, compressed when asked for. The rows are opened before the status is set, so
 * that a refused query is still an error with a body; a failure later breaks the connection.
 */
export async function answerRows(ctx: ApiContext, open: OpenRows): Promise<void> {
  ctx.type = "application/x-ndjson";
  ctx.vary("Accept-Encoding");
  if (ctx.method === "HEAD") {
    if (wantsGzip(ctx)) ctx.set("Content-Encoding", "gzip");
    return void (ctx.status = 200);
  }
  const stop = new AbortController();
  ctx.res.once("close", () => stop.abort());
  // Whoever left earlier is not heard of again.
  if (ctx.req.socket.destroyed) stop.abort();
  const rows = await open(stop.signal);
  ctx.status = 200;
  const counts = wantsTrailers(ctx);
  if (counts) ctx.set("Trailer", "X-Row-Count");
  const counted = counts ? withRowCount(ctx, rows) : rows;
  ctx.body = compressed(ctx, Readable.from(counted, { objectMode: false }));
}

function wantsTrailers(ctx: ApiContext): boolean {
  return /(^|[,\s])trailers\b/i.test(ctx.get("TE"));
}

/** Closes a complete answer with the number of its lines, so that a client can tell it from a cut one. */
async function* withRowCount(ctx: ApiContext, rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let count = 0;
  for await (const part of rows) {
    for (const byte of part) if (byte === NEWLINE) count++;
    yield part;
  }
  ctx.res.addTrailers({ "X-Row-Count": String(count) });
}

const NEWLINE = 0x0a;

/** A failure of the rows has to reach the socket through the compressor as well. */
function compressed(ctx: ApiContext, rows: Readable): Readable {
  if (!wantsGzip(ctx)) return rows;
  ctx.set("Content-Encoding", "gzip");
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  rows.on("error", (error) => gzip.destroy(error));
  gzip.on("close", () => rows.destroy());
  return rows.pipe(gzip);
}

function wantsGzip(ctx: ApiContext): boolean {
  return ctx.acceptsEncodings("gzip", "identity") === "gzip";
}
