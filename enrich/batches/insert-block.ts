import { Readable } from "node:stream";
import type { InsertLock } from "../../schemas/records/settlement.js";
import type { Shard, ClickHouse } from "../../schemas/shards.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import type { LogBlock } from "../native/log-block.js";
import { pause } from "../../schemas/async/pause.js";
import type { Again } from "./retry-while-down.js";

export const INSERT_TRIES_MAX = 3;
const PAUSE_MS = 250;

export interface Rows {
  readonly rows: number;
  readonly table: InsertedTable;
  readonly insertQuery: string;
  /** Valid until a row is added or all are cleared. */
  encode(): Buffer[];
}

export type InsertedTable = "events" | "import_log";

/** An insert that ClickHouse took, its views included; tries that failed before it do not count into its time. */
export interface Inserted {
  table: InsertedTable;
  /** Undefined where there is one server. */
  shard: string | undefined;
  durationMs: number;
}

export interface RowInserter {
  shard: Pick<Shard, "name" | "tables">;
  again: Again;
  /** Awaited right before each try; throws where the rows are no longer this worker's to insert. */
  requireOwned: () => Promise<void>;
  /** Runs a try while no recount runs. */
  whileInserting: InsertLock["whileInserting"];
  /** Called before a second try: the first may have stored the rows in some tables only. */
  onRepeated: () => void;
  /** Called for log entries that cannot be stored unchanged. */
  onLogRefused?: (refusal: Refusal, kept: "without their line texts" | "not at all") => void;
  onInserted?: (insert: Inserted) => void;
}

export interface Refusal {
  reason: string;
  cause: unknown;
}

/** A store that is down is waited for. @returns why the rows cannot be stored; nothing of them then is */
export async function insertRows(
  rows: Rows,
  { token, ...inserter }: RowInserter & { token: string },
): Promise<Refusal | undefined> {
  if (rows.rows === 0) return undefined;
  passFaultPoint("before-insert");
  for (let tried = 1; ; tried++) {
    const block = tryToEncode(rows);
    const refusal = Array.isArray(block)
      ? await insertUnlessRefused(
          { query: rows.insertQuery, block, token },
          { ...inserter, table: rows.table },
        )
      : block;
    if (refusal === undefined || tried === INSERT_TRIES_MAX) return refusal;
    await pause(PAUSE_MS * tried);
  }
}

function tryToEncode(rows: Rows): Buffer[] | Refusal {
  try {
    return rows.encode();
  } catch (cause) {
    return { reason: `the rows of the chunk cannot be encoded: ${messageOf(cause)}`, cause };
  }
}

function insertUnlessRefused(
  insert: BlockInsert,
  inserter: RowInserter & Pick<Inserted, "table">,
): Promise<Refusal | undefined> {
  let tries = 0;
  return inserter.again("writing to ClickHouse", () => {
    if (++tries > 1) inserter.onRepeated();
    return inserter.whileInserting(() => tryToInsert(insert, inserter));
  });
}

async function tryToInsert(
  insert: BlockInsert,
  { shard, requireOwned, table, onInserted }: RowInserter & Pick<Inserted, "table">,
): Promise<Refusal | undefined> {
  await requireOwned();
  const startedAt = performance.now();
  try {
    await insertBlock(shard.tables, insert);
  } catch (cause) {
    if (!isRefusedData(cause)) throw cause;
    return { reason: `ClickHouse rejected the rows of the chunk: ${messageOf(cause)}`, cause };
  }
  onInserted?.({ table, shard: shard.name, durationMs: performance.now() - startedAt });
  return undefined;
}

/**
 * Entries that cannot be stored are stored without their lines, or else dropped: counts are not affected. All
 * tries use one token, so the first that is stored stays.
 */
export async function insertLog(logs: LogBlock, inserter: RowInserter & { token: string }): Promise<void> {
  const refusal = await insertRows(logs, inserter);
  if (refusal === undefined) return;
  const stillRefused = await insertRows(logs.withoutLines(), inserter);
  inserter.onLogRefused?.(refusal, stillRefused === undefined ? "without their line texts" : "not at all");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface BlockInsert {
  /** `INSERT INTO ... FORMAT Native` */
  query: string;
  block: Buffer[];
  /** The same token always carries the same rows: ClickHouse drops what it has and completes what a crash cut. */
  token: string;
}

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
  if (code !== undefined) throw new Error(`ClickHouse returned exception ${String(code)} for an insert`);
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
 * ClickHouse refuses the same unreadable bytes each time, before it stores a row. All its other errors
 * (memory, disk, parts, a view that fails) may pass.
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
