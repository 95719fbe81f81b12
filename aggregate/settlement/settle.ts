import type { ClickHouseClient } from "@clickhouse/client";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { leastVersion, LINES_IN_CHUNK } from "../../schemas/records/event-version.js";
import type { OwnerSettlement, WrittenChunk } from "../../schemas/records/settlement.js";
import { storedColumns } from "../queries/stored-columns.js";
import { readQuery } from "../read-query.js";

/** The events that some chunks of imports wrote. */
export interface SettleScope {
  /** At least one. */
  chunks: readonly Pick<WrittenChunk, "importId" | "stamp" | "events">[];
  /** Whether the imports were retracted: none of their versions may stay live. */
  retracted: boolean;
}

/**
 * Removes and restores versions until, for each event in scope, only its latest version that is not retracted is live,
 * once. A second run finds nothing. The order in which chunks came does not matter.
 * The caller must be the only one that settles for the owner.
 * @returns how many versions were removed or restored
 */
export async function settle(
  clickhouse: ClickHouseClient,
  scope: SettleScope,
  { batch, owner }: { batch: string; owner: OwnerSettlement },
): Promise<number> {
  const differing = await findDeltas(clickhouse, scope, batch);
  if (differing === 0) return 0;
  passFaultPoint("settlement-found");
  await owner.putStagedBatch(batch);
  passFaultPoint("settlement-staged");
  await applyBatch(clickhouse, batch);
  passFaultPoint("settlement-applied");
  await owner.closeBatch(batch);
  passFaultPoint("settlement-closed");
  return differing;
}

/** Inserts a staged batch. Its rows no longer change, and its token makes a second time do nothing. */
export async function applyBatch(clickhouse: ClickHouseClient, batch: string): Promise<void> {
  const columns = await storedColumns(clickhouse, "events");
  await clickhouse.command({
    query: (await readQuery("settlement/apply-deltas")).replaceAll("{columns}", columns.join(", ")),
    query_params: { batch },
    clickhouse_settings: { ...ONE_BLOCK, insert_deduplication_token: `settlement:${batch}` },
  });
}

/** Has the next settlement leave no version of the imports live. */
export async function markRetracted(
  clickhouse: ClickHouseClient,
  importIds: readonly string[],
): Promise<void> {
  await clickhouse.command({
    query: "INSERT INTO retracted_imports (import_id) SELECT arrayJoin({importIds:Array(UUID)})",
    query_params: { importIds },
    clickhouse_settings: { async_insert: 0 },
  });
}

/** Answers how many versions differ from what they should be. */
async function findDeltas(
  clickhouse: ClickHouseClient,
  { chunks, retracted }: SettleScope,
  batch: string,
): Promise<number> {
  const stamps = chunks.map(({ stamp }) => stamp);
  const events = chunks.reduce((sum, chunk) => sum + chunk.events, 0);
  const few = events <= FEW_EVENTS_MAX;
  await clickhouse.command({
    query: await readQuery(few ? "settlement/find-few-deltas" : "settlement/find-deltas"),
    query_params: {
      batch,
      imports: chunks.map(({ importId }) => importId),
      stamps,
      fromVersion: leastVersion(Math.min(...stamps)),
      toVersion: leastVersion(Math.max(...stamps) + 1),
      linesInChunk: LINES_IN_CHUNK,
      retracted,
    },
    clickhouse_settings: {
      async_insert: 0,
      wait_end_of_query: 1,
      use_index_for_in_with_subqueries_max_values: String(FEW_EVENTS_MAX),
      // Handing a few rows from thread to thread takes longer than the rows.
      ...(few && { max_threads: 1 }),
    },
  });
  return countDeltas(clickhouse, batch);
}

/** So many ids are looked up in the index of event_ids. More are in nearly every part of it, and reading it is faster. */
const FEW_EVENTS_MAX = 10_000;

async function countDeltas(clickhouse: ClickHouseClient, batch: string): Promise<number> {
  const counted = await clickhouse.query({
    query: "SELECT count() AS rows FROM settlement_deltas WHERE batch = {batch:UUID}",
    query_params: { batch },
    clickhouse_settings: { max_threads: 1 },
    format: "JSONEachRow",
  });
  const [answer] = await counted.json<{ rows: string }>();
  return Number(answer?.rows ?? 0);
}

/**
 * Deduplication works a block at a time: the same batch must always make the same, single block. ClickHouse numbers the
 * blocks that a SELECT answers, and the token of those that it then squashes into one has the last number. A SELECT answers
 * more or fewer blocks after a merge of the parts that it reads, so the join squashes its rows into one.
 */
export const ONE_BLOCK = {
  async_insert: 0,
  optimize_on_insert: 0,
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  deduplicate_insert_select: "force_enable",
  max_partitions_per_insert_block: "0",
  max_threads: 1,
  max_insert_threads: "1",
  max_block_size: "100000000",
  min_insert_block_size_rows: "100000000",
  min_insert_block_size_bytes: "0",
  min_joined_block_size_rows: "100000000",
  min_joined_block_size_bytes: "0",
  wait_end_of_query: 1,
} as const;
