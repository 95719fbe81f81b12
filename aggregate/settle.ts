import type { ClickHouseClient } from "@clickhouse/client";
import type { OwnerSettlement } from "../schemas/settlement.js";
import { readQuery } from "./read-query.js";

/** The events that an import wrote in chunks received from `firstStamp` to `lastStamp`. */
export interface SettleScope {
  importId: string;
  firstStamp: number;
  lastStamp: number;
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
  const differing = await stageDeltas(clickhouse, scope, batch);
  if (differing === 0) return 0;
  await clickhouse.command({ query: await readQuery("copy-superseded"), query_params: { batch } });
  await owner.putStagedBatch(batch);
  await applyBatch(clickhouse, batch);
  await owner.closeBatch(batch);
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

async function stageDeltas(clickhouse: ClickHouseClient, scope: SettleScope, batch: string): Promise<number> {
  const { importId, firstStamp, lastStamp } = scope;
  const fromVersion = (BigInt(firstStamp) * STAMP).toString();
  const toVersion = ((BigInt(lastStamp) + 1n) * STAMP).toString();
  await clickhouse.command({
    query: await readQuery("find-deltas"),
    query_params: { batch, importId, fromVersion, toVersion },
    clickhouse_settings: { wait_end_of_query: 1 },
  });
  const count = await clickhouse.query({
    query: "SELECT count() AS rows FROM settlement_deltas WHERE batch = {batch:UUID}",
    query_params: { batch },
    format: "JSONEachRow",
  });
  const [answer] = await count.json<{ rows: string }>();
  return Number(answer?.rows ?? 0);
}

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
