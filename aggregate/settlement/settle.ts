import type { ClickHouseClient } from "@clickhouse/client";
import { leastVersion } from "../../schemas/records/event-version.js";
import type { OwnerSettlement } from "../../schemas/records/settlement.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { sqlName } from "../queries/sql-literals.js";
import { readQuery } from "../read-query.js";

/** The events that an import wrote in chunks received from `firstStamp` to `lastStamp`, in ms since the epoch. */
export interface SettleScope {
  importId: string;
  firstStamp: number;
  lastStamp: number;
  /** Whether the import was retracted: none of its versions may stay live. */
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
  if ((await findCandidates(clickhouse, scope, batch)) === 0) return 0;
  const differing = await findDeltas(clickhouse, batch);
  if (differing === 0) return 0;
  await clickhouse.command({
    query: await readColumnsQuery(clickhouse, "settlement/copy-superseded"),
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
    query: await readColumnsQuery(clickhouse, "settlement/apply-deltas"),
    query_params: { batch },
    clickhouse_settings: { ...ONE_BLOCK, insert_deduplication_token: `settlement:${batch}` },
  });
}

/** Has the next settlement leave no version of the import live. */
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
  const fromVersion = leastVersion(firstStamp);
  const toVersion = leastVersion(lastStamp + 1);
  await clickhouse.command({
    query: await readQuery("settlement/find-candidates"),
    query_params: { batch, importId, fromVersion, toVersion, retracted },
    clickhouse_settings: WHOLE,
  });
  return countRows(clickhouse, "settlement_candidates", batch);
}

async function findDeltas(clickhouse: ClickHouseClient, batch: string): Promise<number> {
  await clickhouse.command({
    query: await readQuery("settlement/find-deltas"),
    query_params: { batch },
    clickhouse_settings: WHOLE,
  });
  return countRows(clickhouse, "settlement_deltas", batch);
}

/** Every column by its name: the two tables need not have them in the same order. */
async function readColumnsQuery(
  clickhouse: ClickHouseClient,
  path: "settlement/copy-superseded" | "settlement/apply-deltas",
): Promise<string> {
  const answer = await clickhouse.query({
    query: await readQuery("settlement/stored-columns"),
    format: "JSONEachRow",
  });
  const columns = (await answer.json<{ name: string }>()).map(({ name }) => sqlName(name));
  return (await readQuery(path)).replaceAll("{columns}", columns.join(", "));
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
