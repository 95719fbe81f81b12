import type { ClickHouseClient } from "@clickhouse/client";
import type { OwnerSettlement } from "../../schemas/records/settlement.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { readQuery } from "../queries/read-query.js";

/** The events that an import wrote in chunks received from `firstStamp` to `lastStamp`. */
export interface SettleScope {
  importId: string;
  firstStamp: number;
  lastStamp: number;
  /** None of them may stay. */
  retracted: boolean;
}

const STAMP = 2n ** 20n;

/**
 * Makes every event in scope live once, in its latest version that was not retracted, and all its other versions not
 * at all: finds the difference, stages it, applies it. Finds nothing when run again, whatever order chunks came in.
 * The caller must be the only one that settles for the owner.
 * @returns how many versions were taken back or brought back
 */
export async function settle(
  clickhouse: ClickHouseClient,
  scope: SettleScope,
  { batch, owner }: { batch: string; owner: OwnerSettlement },
): Promise<number> {
  if ((await findCandidates(clickhouse, scope, batch)) === 0) return 0;
  const differing = await findDeltas(clickhouse, batch);
  if (differing === 0) return 0;
  await clickhouse.command({
    query: await readQuery("copy-superseded"),
    query_params: { batch },
    clickhouse_settings: WHOLE,
  });
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
  await clickhouse.command({
    query: await readQuery("apply-deltas"),
    query_params: { batch },
    clickhouse_settings: { ...ONE_BLOCK, insert_deduplication_token: `settlement:${batch}` },
  });
}

/** None of the import's versions may be live from the next settlement on. */
export async function markRetracted(clickhouse: ClickHouseClient, importId: string): Promise<void> {
  await clickhouse.command({
    query: "INSERT INTO retracted_imports (import_id) SELECT {importId:UUID}",
    query_params: { importId },
  });
}

async function findCandidates(
  clickhouse: ClickHouseClient,
  { importId, firstStamp, lastStamp, retracted }: SettleScope,
  batch: string,
): Promise<number> {
  const fromVersion = (BigInt(firstStamp) * STAMP).toString();
  const toVersion = ((BigInt(lastStamp) + 1n) * STAMP).toString();
  await clickhouse.command({
    query: await readQuery("find-candidates"),
    query_params: { batch, importId, fromVersion, toVersion, retracted },
    clickhouse_settings: WHOLE,
  });
  return countRows(clickhouse, "settlement_candidates", batch);
}

async function findDeltas(clickhouse: ClickHouseClient, batch: string): Promise<number> {
  await clickhouse.command({
    query: await readQuery("find-deltas"),
    query_params: { batch },
    clickhouse_settings: WHOLE,
  });
  return countRows(clickhouse, "settlement_deltas", batch);
}

async function countRows(clickhouse: ClickHouseClient, table: string, batch: string): Promise<number> {
  const counted = await clickhouse.query({
    query: "SELECT count() AS rows FROM {table:Identifier} WHERE batch = {batch:UUID}",
    query_params: { table, batch },
    format: "JSONEachRow",
  });
  const [answer] = await counted.json<{ rows: string }>();
  return Number(answer?.rows ?? 0);
}

/** The answer comes when all rows are stored. */
const WHOLE = { async_insert: 0, wait_end_of_query: 1 } as const;

/** Deduplication works a block at a time: the same batch must always make the same, single block. */
const ONE_BLOCK = {
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
  wait_end_of_query: 1,
} as const;
