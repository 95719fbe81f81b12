import { Stream } from "node:stream";
import { constants, createGzip } from "node:zlib";
import type { Rows } from "../../../../aggregate/queries/open-rows.js";
import { type ExportFormat, MEDIA_TYPES } from "../../../../schemas/contracts/aggregate.js";
import { type ApiListener, NO_LISTENER } from "../api-listener.js";
import type { ExportPermit } from "../export-permits.js";
import type { ApiContext } from "../route.js";
import { type RowCount, countRows } from "./count-rows.js";

/** The signal stops the query. `zstd` asks for compressed rows, only if `AnswerOptions.zstd` is true. */
export type OpenRows = (asked: { signal: AbortSignal; zstd: boolean }) => Promise<Rows>;

export type ExportListener = Pick<ApiListener, "onExported" | "onExportEnded">;

interface AnswerOptions {
  listener?: ExportListener | undefined;
  /** `json` is one value, without a count of rows. */
  format?: ExportFormat | "json";
  /** ClickHouse then compresses, outside of this process. */
  zstd?: boolean;
}

/** The rows open before the status is set, so that a refused query has a body. A later failure breaks the connection. */
export async function answerRows(
  ctx: ApiContext,
  open: OpenRows,
  { listener = NO_LISTENER, format = "ndjson", zstd = false }: AnswerOptions = {},
): Promise<void> {
  ctx.type = format === "json" ? "application/json" : MEDIA_TYPES[format];
  ctx.vary("Accept-Encoding");
  const counted = format !== "json" && wantsTrailers(ctx) ? format : undefined;
  if (zstd) ctx.vary("TE");
  // Rows in compressed bytes cannot be counted: a caller who wants the number gets gzip or no compression.
  const encoding = encodingFor(
    ctx,
    zstd && counted === undefined ? ["gzip", "zstd", "identity"] : ["gzip", "identity"],
  );
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  if (ctx.method === "HEAD") return void (ctx.status = 200);
  const { left: signal } = ctx.state;
  const permit = await openUncoded(ctx, () => takePermit(ctx, { signal, format }));
  signal.addEventListener("abort", () => permit?.[Symbol.dispose](), { once: true });
  const rows = await openUncoded(ctx, () => open({ signal, zstd: encoding === "zstd" }), permit);
  ctx.status = 200;
  // Searching for line ends takes a twentieth of an export's time.
  const answer = countAnswer(rows, {
    count: counted === undefined ? UNCOUNTED : countRows(counted),
    listener,
    signal,
    permit,
  });
  signal.addEventListener("abort", () => reportEnd(ctx, answer, listener), { once: true });
  if (counted !== undefined) ctx.set("Trailer", "X-Row-Count");
  const trailed = counted === undefined ? answer.rows : withRowCount(ctx, answer);
  ctx.body = new RowsBody(encoding === "gzip" ? gzipRows(trailed) : trailed, signal);
}

async function takePermit(
  ctx: ApiContext,
  { signal, format }: { signal: AbortSignal; format: AnswerOptions["format"] },
): Promise<ExportPermit | undefined> {
  const { takeExportPermit, account, log } = ctx.state;
  const onBrokenOff = () =>
    log.info("closed an export or a long list because its client stopped reading while others were waiting");
  // Lists do not wait for the account's exports, which may take hours.
  const accountId = `${format === "json" ? "lists of " : ""}${account?.id ?? ""}`;
  return takeExportPermit?.({ accountId, socket: ctx.req.socket, signal, onBrokenOff });
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

/**
 * A body for Koa without a buffer. The next part of the rows overwrites the one before, so each part is written before
 * the next is requested. A Readable would retain parts. Koa ends the answer when this ends.
 */
export class RowsBody extends Stream {
  constructor(
    private readonly rows: Rows,
    private readonly signal: AbortSignal,
  ) {
    super();
  }

  override pipe<To extends NodeJS.WritableStream>(to: To): To {
    writeRows(this.rows, to).then(
      () => this.emit("end"),
      (error: unknown) => {
        // Koa no longer listens once the caller has left.
        if (!this.signal.aborted) this.emit("error", error);
      },
    );
    return to;
  }
}

/**
 * zlib makes parts of 16 KiB at most; uncompressed and zstd parts of ClickHouse have some 400 KB. undici's parser copies all
 * that has arrived for each piece that its reader takes (`unshift` in its client-h1.js). So Node 20's `fetch` read 250 MB
 * packed by us 21 times as slowly as `http.get` in pieces of 16 KiB, 8 times in 32, and 1.2 to 1.4 times in 64 to 512.
 * curl and Python took as long with all.
 */
const PIECE_BYTES = 128 * 1024;

/**
 * Compresses the rows, in pieces of `PIECE_BYTES` at least. Only the first, so that the answer begins at once, and the last
 * may be smaller.
 */
export async function* gzipRows(rows: Rows): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  writeRows(rows, gzip).then(
    () => gzip.end(),
    (error: Error) => gzip.destroy(error),
  );
  let held: Buffer[] = [];
  let heldBytes = 0;
  let bytesMin = 1;
  for await (const part of gzip as AsyncIterable<Buffer>) {
    held.push(part);
    heldBytes += part.length;
    if (heldBytes < bytesMin) continue;
    yield Buffer.concat(held);
    held = [];
    heldBytes = 0;
    bytesMin = PIECE_BYTES;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}

/** Requests a part only after the one before is written. */
async function writeRows(rows: Rows, to: NodeJS.WritableStream): Promise<void> {
  for await (const part of rows)
    await new Promise<void>((resolve, reject) =>
      to.write(part, (error) => (error ? reject(error) : resolve())),
    );
}
