import type { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";

export interface RowsQuery {
  query: string;
  params: Record<string, unknown>;
  /** Aborting it stops the query in ClickHouse as well. */
  signal: AbortSignal;
}

/**
 * Runs a query and hands its result through as bytes. Rejects when ClickHouse refuses the query; throws while being
 * read when it fails midway, so that whoever pipes it breaks the connection instead of ending it cleanly.
 */
export async function openRows(
  clickhouse: ClickHouseClient,
  { query, params, signal }: RowsQuery,
): Promise<AsyncIterable<Buffer>> {
  const { stream, response_headers: headers } = await clickhouse.exec({
    query,
    query_params: params,
    abort_signal: signal,
    clickhouse_settings: {
      http_write_exception_in_output_format: 0,
      cancel_http_readonly_queries_on_client_close: 1,
    },
  });
  const code = headers["x-clickhouse-exception-code"];
  if (code !== undefined) stream.destroy();
  if (code !== undefined) throw new Error(`ClickHouse answered a query with exception ${String(code)}`);
  const tag = headers["x-clickhouse-exception-tag"];
  return typeof tag === "string" ? failingAtException(stream, tag) : (stream as AsyncIterable<Buffer>);
}

/** ClickHouse ends a result that failed midway with a block that opens so; its tag is new for every answer. */
async function* failingAtException(stream: Readable, tag: string): AsyncGenerator<Buffer> {
  const mark = Buffer.from(`__exception__\r\n${tag}`);
  let held: Buffer = Buffer.alloc(0);
  for await (const part of stream as AsyncIterable<Buffer>) {
    const bytes = held.length === 0 ? part : Buffer.concat([held, part]);
    if (bytes.includes(mark))
      throw new Error(`ClickHouse failed midway: ${bytes.toString("utf8").slice(-500)}`);
    const safe = Math.max(0, bytes.length - mark.length + 1);
    if (safe > 0) yield bytes.subarray(0, safe);
    held = bytes.subarray(safe);
  }
  if (held.length > 0) yield held;
}
