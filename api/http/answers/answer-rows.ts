import type { Rows } from "../../../aggregate/queries/open-rows.js";
import { MEDIA_TYPES, type ExportFormat } from "../../../schemas/contracts/export-format.js";
import { NO_LISTENER, type ApiListener } from "../api-listener.js";
import { countRows } from "./count-rows.js";
import type { RowCount } from "./row-count.js";
import type { ApiContext } from "../route.js";
import type { ExportPermit } from "../export-permits.js";
import { gzipRows, RowsBody } from "./rows-body.js";

/**
 * Opens rows. Aborting the signal stops their query. `zstd` requests rows that are compressed already; it is true only
 * if `AnswerOptions.zstd` is.
 */
export type OpenRows = (asked: { signal: AbortSignal; zstd: boolean }) => Promise<Rows>;

export type ExportListener = Pick<ApiListener, "onExported" | "onExportEnded">;

export interface AnswerOptions {
  listener?: ExportListener | undefined;
  format?: ExportFormat;
  /** Whether the rows can be opened compressed. ClickHouse then compresses, outside of this process. */
  zstd?: boolean;
}

/**
 * Streams rows as the answer, compressed on request. The rows are opened before the status is set: a refused query is
 * still an error with a body. A later failure breaks the connection.
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
  // Rows in compressed bytes cannot be counted: a caller who wants the number gets gzip or no compression.
  const encoding = encodingFor(ctx, zstd && !counts ? ["gzip", "zstd", "identity"] : ["gzip", "identity"]);
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  if (ctx.method === "HEAD") return void (ctx.status = 200);
  const stop = new AbortController();
  const begun: { answer?: CountedAnswer } = {};
  // One listener for both: more would exceed Node's limit, beside those of Koa and the compressor.
  ctx.res.once("close", () => {
    stop.abort();
    if (begun.answer !== undefined) reportEnd(ctx, begun.answer, listener);
  });
  // In a pipelined request the answer has no socket yet, and so emits no close.
  ctx.req.once("close", () => stop.abort());
  // A request that closed earlier emits no close again.
  if (ctx.req.socket.destroyed) stop.abort();
  const { signal } = stop;
  const permit = await openUncoded(ctx, () => takePermit(ctx, signal));
  signal.addEventListener("abort", () => permit?.[Symbol.dispose](), { once: true });
  const rows = await openUncoded(ctx, () => open({ signal, zstd: encoding === "zstd" }), permit);
  ctx.status = 200;
  // Searching for line ends takes a twentieth of an export's time.
  const answer = countAnswer(rows, {
    count: counts ? countRows(format) : UNCOUNTED,
    listener,
    signal,
    permit,
  });
  begun.answer = answer;
  if (counts) ctx.set("Trailer", "X-Row-Count");
  const trailed = counts ? withRowCount(ctx, answer) : answer.rows;
  ctx.body = encoding === "gzip" ? gzipRows(trailed) : new RowsBody(trailed, signal);
}

async function takePermit(ctx: ApiContext, signal: AbortSignal): Promise<ExportPermit | undefined> {
  const { takeExportPermit, account, log } = ctx.state;
  const onBrokenOff = () =>
    log.info("an export was broken off: its caller did not read on while others waited");
  return takeExportPermit?.({ accountId: account?.id ?? "", socket: ctx.req.socket, signal, onBrokenOff });
}

/** An error body is not encoded as the rows would have been. */
async function openUncoded<T>(ctx: ApiContext, open: () => Promise<T>, permit?: Disposable): Promise<T> {
  try {
    return await open();
  } catch (error) {
    permit?.[Symbol.dispose]();
    ctx.remove("Content-Encoding");
    throw error;
  }
}

const UNCOUNTED: RowCount = { add: () => 0, finish: async () => 0 };

interface CountedAnswer {
  rows: Rows;
  /** Rows so far; 0 if they are not counted. */
  count: number;
  /** Whether the rows broke off for another reason than the caller's leaving. */
  failed: boolean;
}

interface Counting {
  count: RowCount;
  listener: ExportListener;
  signal: AbortSignal;
  permit: ExportPermit | undefined;
}

function countAnswer(opened: Rows, { count, listener, signal, permit }: Counting): CountedAnswer {
  const counted: CountedAnswer = { rows: counting(), count: 0, failed: false };
  async function* counting(): AsyncGenerator<Buffer> {
    try {
      for await (const part of opened) {
        counted.count += count.add(part);
        listener.onExported(part.length);
        permit?.onHanded();
        yield part;
        permit?.onTaken();
      }
      counted.count += await count.finish();
    } catch (error) {
      counted.failed = !signal.aborted;
      throw error;
    } finally {
      permit?.[Symbol.dispose]();
    }
  }
  return counted;
}

function reportEnd(ctx: ApiContext, answer: CountedAnswer, listener: ExportListener): void {
  if (ctx.res.writableFinished) listener.onExportEnded("complete");
  else listener.onExportEnded(answer.failed ? "failed" : "left");
}

/** Trailers need a chunked answer, which HTTP/1.0 does not have. */
function wantsTrailers(ctx: ApiContext): boolean {
  return ctx.req.httpVersion !== "1.0" && /(^|[,\s])trailers\b/i.test(ctx.get("TE"));
}

/** Ends a complete answer with its number of rows, so that a client can recognise a truncated one. */
async function* withRowCount(ctx: ApiContext, answer: CountedAnswer): AsyncGenerator<Buffer> {
  yield* answer.rows;
  ctx.res.addTrailers({ "X-Row-Count": String(answer.count) });
}

/** The encoding that the caller rates highest, the first of equals; none if no offered one is accepted. */
function encodingFor(ctx: ApiContext, offered: readonly string[]): string {
  return ctx.acceptsEncodings([...offered]) || "identity";
}
