import type { ClickHouseSettings } from "@clickhouse/client";
import type { ExportFormat } from "../../schemas/contracts/aggregate.js";
import { text } from "node:stream/consumers";
import { isUuid } from "../../schemas/formats.js";
import { quotedName } from "./sql-literals.js";

/** A query with the field names of ClickHouse's client, so that it can go to `exec`. */
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

/** The bytes of a result. A part is overwritten once the next one is asked for. */
export type Rows = AsyncIterable<Buffer>;

/** Runs queries; rejects when ClickHouse refuses one. A client of ClickHouse is such a source. */
export interface ResultSource {
  exec(asked: ResultRequest): Promise<Result>;
}

export interface RowsQuery {
  query: string;
  params: Record<string, unknown>;
  signal: AbortSignal;
  settings?: ClickHouseSettings;
  zstd?: boolean | undefined;
}

/**
 * Rejects when ClickHouse refuses the query. Reading throws when the query fails midway, so that its reader
 * breaks the connection instead of ending it cleanly.
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
  // ClickHouse itself breaks the connection when a query with a compressed result fails midway.
  const isMarked = typeof tag === "string" && !zstd;
  return isMarked ? readToException(stream, Buffer.from(`__exception__\r\n${tag}`)) : stream;
}

const COMPRESSED = { enable_http_compression: 1, http_zlib_compression_level: "1" } as const;

function refusalIn(headers: Result["response_headers"], zstd: boolean): string | undefined {
  const code = headers["x-clickhouse-exception-code"];
  if (code !== undefined) return `ClickHouse returned exception ${String(code)} for a query`;
  if (zstd && headers["content-encoding"] !== "zstd")
    return "ClickHouse did not compress the result with zstd";
  return undefined;
}

/** ClickHouse cuts the text of a failure to 16 KiB, its marks included (seen with the embedded one). */
const FAILURE_BYTES_MAX = 20 * 1024;

/**
 * A result that failed midway ends with a block that begins with this mark, new for every answer. Parts are
 * passed on uncopied; only what may begin the mark waits for the next one.
 */
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

/** The block ends the result, so it begins near the end of a part: the rest of a large part is not searched. */
function refuseException(bytes: Buffer, mark: Buffer): void {
  if (bytes.includes(mark, Math.max(0, bytes.length - FAILURE_BYTES_MAX)))
    throw new Error(`ClickHouse failed midway: ${bytes.toString("utf8").slice(-500)}`);
}

/** The index at which a beginning of the mark ends the bytes; their length where none does. */
function beginningOf(mark: Buffer, bytes: Buffer): number {
  const first = mark[0] ?? 0;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - mark.length + 1));
  while (at >= 0 && !mark.subarray(0, bytes.length - at).equals(bytes.subarray(at)))
    at = bytes.indexOf(first, at + 1);
  return at < 0 ? bytes.length : at;
}

export const FORMAT_NAMES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "JSONEachRow",
  csv: "CSVWithNames",
  parquet: "Parquet",
  arrow: "ArrowStream",
};

/** Times as in every answer, unknown values as empty, and types that today's readers of Parquet and Arrow know. */
export const FORMAT_SETTINGS = {
  date_time_output_format: "iso",
  format_csv_null_representation: "",
  output_format_csv_crlf_end_of_line: 0,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_parquet_string_as_string: 1,
  // ClickHouse's defaults are zstd, and lz4 for Arrow; not every reader knows them.
  output_format_parquet_compression_method: "snappy",
  output_format_arrow_compression_method: "none",
  output_format_arrow_string_as_string: 1,
  output_format_arrow_low_cardinality_as_dictionary: 0,
} as const satisfies ClickHouseSettings;

/**
 * Hides the versions that these erasures (UUIDs) have found from every read of events: rows are deleted part
 * by part, and a version's row may be gone before the one that removes it.
 */
export async function hideErased(
  clickhouse: ResultSource,
  erasures: readonly string[] = [],
  signal: AbortSignal,
): Promise<ClickHouseSettings> {
  if (erasures.length === 0) return {};
  if (!erasures.every(isUuid)) throw new Error("an erasure is not a UUID");
  const ids = erasures.map((id) => `\\'${id}\\'`).join(", ");
  // Every shard evaluates the condition, and none of them in this database.
  const versions = `${quotedName(await databaseOf(clickhouse, signal))}.erased_versions`;
  const isKept = `(event_id, version, import_id) NOT IN (SELECT event_id, version, import_id FROM ${versions} WHERE erasure IN (${ids}))`;
  const tables = ["events", "event_ids"].map((table) => `'${table}': '${isKept}'`);
  // As text, because the client library is only known by its types here.
  return { additional_table_filters: `{${tables.join(", ")}}` } as unknown as ClickHouseSettings;
}

async function databaseOf(clickhouse: ResultSource, signal: AbortSignal): Promise<string> {
  const query = "SELECT currentDatabase() FORMAT TSVRaw";
  return (await text(await openRows(clickhouse, { query, params: {}, signal }))).trimEnd();
}
