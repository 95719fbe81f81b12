import type { Rows } from "../../aggregate/queries/open-rows.js";
import { MEDIA_TYPES, type ExportFormat } from "../../schemas/contracts/export-format.js";
import { NO_LISTENER, type ApiListener } from "../api-listener.js";
import { countRows } from "./count-rows.js";
import type { RowCount } from "./row-count.js";
import type { ApiContext } from "../route.js";
import { gzipRows, RowsBody } from "./rows-body.js";

/**
 * Opens rows; aborting the signal stops what makes them. Only where `AnswerOptions.zstd` says that it can is it asked
 * for rows that are compressed already.
 */
export type OpenRows = (asked: { signal: AbortSignal; zstd: boolean }) => Promise<Rows>;

export type ExportListener = Pick<ApiListener, "onExported" | "onExportEnded">;

export interface AnswerOptions {
  listener?: ExportListener | undefined;
  format?: ExportFormat;
  /** Whether the rows can be opened compressed: ClickHouse does it beside the work of this process. */
  zstd?: boolean;
}

/**
 * Answers with rows as they are made, compressed when asked for. The rows are opened before the status is set, so
 * that a refused query is still an error with a body; a failure later breaks the connection.
 */
export async function answerRows(
  ctx: ApiContext,
  open: OpenRows,
  { listener = NO_LISTENER, format = "ndjson", zstd = false }: AnswerOptions = {},
): Promise<void> {
  ctx.type = MEDIA_TYPES[format];
  ctx.vary("Accept-Encoding");
  const counts = wantsTrailers(ctx);
  if (zstd) ctx.vary("TE");
  // Rows are not counted in what is compressed already: who wants their number gets it with gzip, or plain.
  const encoding = encodingFor(ctx, zstd && !counts ? ["gzip", "zstd", "identity"] : ["gzip", "identity"]);
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  if (ctx.method === "HEAD") return void (ctx.status = 200);
  const stop = new AbortController();
  const begun: { answer?: CountedAnswer } = {};
  // One listener for both: with those of Koa and of the compressor, more would be taken for a leak.
  ctx.res.once("close", () => {
    stop.abort();
    if (begun.answer !== undefined) reportEnd(ctx, begun.answer, listener);
  });
  // What waits behind another answer of its connection has none of its own yet that could close.
  ctx.req.once("close", () => stop.abort());
  // Whoever left earlier is not heard of again.
  if (ctx.req.socket.destroyed) stop.abort();
  const rows = await openUncoded(ctx, () => open({ signal: stop.signal, zstd: encoding === "zstd" }));
  ctx.status = 200;
  // Looking for the ends of lines takes a twentieth of the time of an export.
  const answer = countAnswer(rows, {
    count: counts ? countRows(format) : UNCOUNTED,
    listener,
    signal: stop.signal,
  });
  begun.answer = answer;
  if (counts) ctx.set("Trailer", "X-Row-Count");
  const trailed = counts ? withRowCount(ctx, answer) : answer.rows;
  ctx.body = encoding === "gzip" ? gzipRows(trailed) : new RowsBody(trailed, stop.signal);
}

/** What refuses is not encoded as the rows would have been. */
async function openUncoded<T>(ctx: ApiContext, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    ctx.remove("Content-Encoding");
    throw error;
  }
}

const UNCOUNTED: RowCount = { add: () => 0, finish: async () => 0 };

interface CountedAnswer {
  rows: Rows;
  /** Rows so far, where they are counted. */
  count: number;
  /** They broke off, and not because the caller left. */
  failed: boolean;
}

interface Counting {
  count: RowCount;
  listener: ExportListener;
  signal: AbortSignal;
}

function countAnswer(opened: Rows, { count, listener, signal }: Counting): CountedAnswer {
  const counted: CountedAnswer = { rows: counting(), count: 0, failed: false };
  async function* counting(): AsyncGenerator<Buffer> {
    try {
      for await (const part of opened) {
        counted.count += count.add(part);
        listener.onExported(part.length);
        yield part;
      }
      counted.count += await count.finish();
    } catch (error) {
      counted.failed = !signal.aborted;
      throw error;
    }
  }
  return counted;
}

function reportEnd(ctx: ApiContext, answer: CountedAnswer, listener: ExportListener): void {
  if (ctx.res.writableFinished) listener.onExportEnded("complete");
  else listener.onExportEnded(answer.failed ? "failed" : "left");
}

/** Trailers stand behind the chunks of an answer, of which HTTP/1.0 knows nothing. */
function wantsTrailers(ctx: ApiContext): boolean {
  return ctx.req.httpVersion !== "1.0" && /(^|[,\s])trailers\b/i.test(ctx.get("TE"));
}

/** Closes a complete answer with the number of its rows, so that a client can tell it from a cut one. */
async function* withRowCount(ctx: ApiContext, answer: CountedAnswer): AsyncGenerator<Buffer> {
  yield* answer.rows;
  ctx.res.addTrailers({ "X-Row-Count": String(answer.count) });
}

/** The one that the caller rates highest, and names first among such; plain where none will do. */
function encodingFor(ctx: ApiContext, offered: readonly string[]): string {
  return ctx.acceptsEncodings([...offered]) || "identity";
}
