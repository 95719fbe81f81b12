import { Readable } from "node:stream";
import type { ClickHouse } from "../../schemas/shards.js";

export interface BlockInsert {
  /** `INSERT INTO ... FORMAT Native` */
  query: string;
  block: Buffer[];
  /** The same token always carries the same rows: ClickHouse drops what it has and completes what a crash cut. */
  token: string;
}

/** Inserts one Native block, once, into its table and every view of it. */
export async function insertBlock(
  clickhouse: ClickHouse,
  { query, block, token }: BlockInsert,
): Promise<void> {
  const { stream, response_headers: headers } = await clickhouse.exec({
    query,
    values: Readable.from(block, { objectMode: false }),
    clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
  });
  for await (const _ of stream);
  const code = headers["x-clickhouse-exception-code"];
  if (code !== undefined) throw new Error(`ClickHouse answered an insert with exception ${String(code)}`);
}

/** Set explicitly, because defaults differ between versions and each of these decides whether rows count once. */
const INSERT_SETTINGS = {
  async_insert: 0,
  // Summing while inserting costs five times what the merges do later.
  optimize_on_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // A block may span decades of events, each month a partition.
  max_partitions_per_insert_block: "0",
  // Waits for the views, so that their failure changes the HTTP status instead of following a 200.
  wait_end_of_query: 1,
} as const;

/**
 * Whether ClickHouse cannot read the bytes of a block: it refuses the same bytes each time, before it stores a row.
 * All its other errors (memory, disk, too many parts, a view that fails) may pass.
 */
export function isRefusedData(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return typeof error.code === "string" && REFUSED_DATA.has(error.code);
}

/** Errors that blocks with flipped, missing or surplus bytes led to. Source of the names: ClickHouse, ErrorCodes.cpp. */
const REFUSED_DATA: ReadonlySet<string> = new Set([
  "32", // ATTEMPT_TO_READ_AFTER_EOF
  "33", // CANNOT_READ_ALL_DATA
  "117", // INCORRECT_DATA
  "128", // TOO_LARGE_ARRAY_SIZE
  "131", // TOO_LARGE_STRING_SIZE
  "190", // SIZES_OF_ARRAYS_DONT_MATCH
]);
