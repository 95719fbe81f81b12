import type { ClickHouseSettings } from "@clickhouse/client";

/** What ClickHouse is asked for; in the words of its client, whose `exec` takes it as well. */
export interface ResultRequest {
  query: string;
  query_params: Record<string, unknown>;
  clickhouse_settings: ClickHouseSettings;
  /** Aborting it stops the query in ClickHouse as well. */
  abort_signal: AbortSignal;
  http_headers?: Record<string, string>;
  decompress_response_stream?: false;
}

export interface Result {
  /** Throws when the connection breaks. */
  stream: Rows & { destroy(): unknown };
  /** Names in lower case. */
  response_headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The bytes of a result; those of a part may be others once the next part is asked for. */
export interface Rows extends AsyncIterable<Buffer> {
  /** In place of reading them, where they come in chunks of HTTP/1.1. */
  passChunks?: PassChunks;
}

/**
 * Passes chunks of HTTP/1.1 on as they are, with their sizes and the last one, cut anywhere: that takes a fifth less of
 * a processor than to unpack and to pack them again. `look` sees what is in them first, and may throw.
 */
export type PassChunks = (write: WriteBytes, look: (part: Buffer) => void) => Promise<void>;

/** Takes bytes, which may be others once it has answered undefined, or once what it answers resolves. */
export type WriteBytes = (bytes: Buffer) => Promise<void> | undefined;

/** Runs queries and hands on the bytes of their results; rejects when ClickHouse refuses. A client of it will do. */
export interface ResultSource {
  exec(asked: ResultRequest): Promise<Result>;
}

export interface RowsQuery {
  query: string;
  params: Record<string, unknown>;
  /** Aborting it stops the query in ClickHouse as well. */
  signal: AbortSignal;
  settings?: ClickHouseSettings;
  /** ClickHouse compresses the result. */
  zstd?: boolean | undefined;
}

/**
 * Runs a query and hands its result through as bytes. Rejects when ClickHouse refuses the query; throws while being
 * read when it fails midway, so that whoever pipes it breaks the connection instead of ending it cleanly.
 */
export async function openRows(
  clickhouse: ResultSource,
  { query, params, signal, settings = {}, zstd = false }: RowsQuery,
): Promise<Rows> {
  const { stream, response_headers: headers } = await clickhouse.exec({
    query,
    query_params: params,
    abort_signal: signal,
    clickhouse_settings: {
      ...settings,
      http_write_exception_in_output_format: 0,
      cancel_http_readonly_queries_on_client_close: 1,
      ...(zstd && COMPRESSED),
    },
    ...(zstd && { http_headers: { "Accept-Encoding": "zstd" }, decompress_response_stream: false }),
  });
  const refusal = refusalIn(headers, zstd);
  if (refusal !== undefined) stream.destroy();
  if (refusal !== undefined) throw new Error(refusal);
  const tag = headers["x-clickhouse-exception-tag"];
  // Of what it compresses ClickHouse breaks the connection itself when the query fails midway.
  const isMarked = typeof tag === "string" && !zstd;
  return isMarked ? failingAtException(stream, tag) : stream;
}

const COMPRESSED = { enable_http_compression: 1, http_zlib_compression_level: "1" } as const;

function refusalIn(headers: Result["response_headers"], zstd: boolean): string | undefined {
  const code = headers["x-clickhouse-exception-code"];
  if (code !== undefined) return `ClickHouse answered a query with exception ${String(code)}`;
  if (zstd && headers["content-encoding"] !== "zstd") return "ClickHouse did not compress a result with zstd";
  return undefined;
}

/** ClickHouse cuts the text of a failure to 16 KiB, its marks included (seen with the embedded one). */
const FAILURE_BYTES_MAX = 20 * 1024;

/**
 * ClickHouse ends a result that failed midway with a block that opens so; its tag is new for every answer. Parts are
 * handed on as they are, uncopied; only what may be the beginning of that block waits for the next part.
 */
function failingAtException(stream: Rows, tag: string): Rows {
  const mark = Buffer.from(`__exception__\r\n${tag}`);
  const { passChunks } = stream;
  const rows: Rows = readToException(stream, mark);
  if (passChunks !== undefined)
    rows.passChunks = (write, look) => passChunks(write, lookForException(mark, look));
  return rows;
}

async function* readToException(stream: Rows, mark: Buffer): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const part of stream) {
    const bytes = held.length === 0 ? part : Buffer.concat([held, part]);
    refuseException(bytes, mark);
    const safe = beginningOf(mark, bytes);
    held = Buffer.from(bytes.subarray(safe));
    if (safe > 0) yield bytes.subarray(0, safe);
  }
  if (held.length > 0) yield held;
}

/** Nothing is held back: of a mark that comes in two parts the first may be written when the second throws. */
function lookForException(mark: Buffer, look: (part: Buffer) => void): (part: Buffer) => void {
  let end: Buffer = Buffer.alloc(0);
  return (part) => {
    refuseException(part, mark);
    const seam = Buffer.concat([end, part.subarray(0, mark.length)]);
    if (seam.includes(mark)) refuseException(Buffer.concat([end, part]), mark);
    end = Buffer.from((part.length < mark.length ? seam : part).subarray(-mark.length));
    look(part);
  };
}

/** The block is at the end of the whole, so it begins near the end of a part: looking no further leaves time to others. */
function refuseException(bytes: Buffer, mark: Buffer): void {
  if (bytes.includes(mark, Math.max(0, bytes.length - FAILURE_BYTES_MAX)))
    throw new Error(`ClickHouse failed midway: ${bytes.toString("utf8").slice(-500)}`);
}

/** Where the end of the bytes may be the beginning of the mark; their length where it is not. */
function beginningOf(mark: Buffer, bytes: Buffer): number {
  const first = mark[0] ?? 0;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - mark.length + 1));
  while (at >= 0 && !mark.subarray(0, bytes.length - at).equals(bytes.subarray(at)))
    at = bytes.indexOf(first, at + 1);
  return at < 0 ? bytes.length : at;
}
