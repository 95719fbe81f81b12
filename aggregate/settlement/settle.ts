import { v7 as uuidv7 } from "uuid";
import { pause } from "../../schemas/async/pause.js";
import type { Shard, Shards } from "../../schemas/shards.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { type Starts, requireSameStart, syncSince } from "../../schemas/sync-since.js";
import { versionsOf } from "../../schemas/records/event-id.js";
import type { OwnerSettlement, WrittenChunk } from "../../schemas/records/settlement.js";
import { readQuery } from "../read-query.js";
import { isRunning, recount } from "./recount.js";

export interface SettleScope {
  chunks: readonly Pick<WrittenChunk, "importId" | "stamp" | "events">[];
  /** Whether the imports were retracted: none of their versions may stay live. */
  retracted: boolean;
}

/**
 * Afterwards only the latest version of each event in scope that is not retracted is live, once, in whatever
 * order chunks came. A second run finds nothing. The caller must be the only one that settles for the owner.
 * @returns how many versions were removed or restored
 */
export async function settle(
  shards: Shards,
  scope: SettleScope,
  { batch, owner }: { batch: string; owner: OwnerSettlement },
): Promise<number> {
  const start = await shards.startedAt();
  await findDeltas(shards, scope, batch);
  return applyFound(shards, batch, { owner, start });
}

/**
 * Answers how many deltas there are. A repeated statement finds them twice, which changes only this number. `start` is when
 * the servers had started before they were found. If one starts again, the caller finds them again under another batch, or
 * recounts the staged one.
 */
export async function applyFound(
  shards: Shards,
  batch: string,
  {
    owner,
    start,
  }: { owner: Pick<OwnerSettlement, "putStagedBatch" | "closeBatch" | "whileInserting">; start: Starts },
): Promise<number> {
  await shards.catchUp(["settlement_deltas"]);
  const differing = await countDeltas(shards, batch);
  // After they were found: a shard that is added later has no rows yet.
  await shards.requireEvery();
  if (differing === 0) {
    await requireSameStart(shards, start);
    return 0;
  }
  await copyDeltas(shards, batch);
  await syncSince(shards, start);
  passFaultPoint("settlement-found");
  await owner.putStagedBatch(batch);
  passFaultPoint("settlement-staged");
  await owner.whileInserting(() => applyBatch(shards, batch));
  await syncSince(shards, start);
  passFaultPoint("settlement-applied");
  await owner.closeBatch(batch);
  passFaultPoint("settlement-closed");
  return differing;
}

/** On each shard the rows of the versions that lie there. */
async function applyBatch({ shards }: Shards, batch: string): Promise<void> {
  await Promise.all(shards.map((shard) => applyOn(shard, batch)));
}

/** The token is for another server of the shard that is asked once the first gave no answer. */
async function applyOn(shard: Shard, batch: string): Promise<void> {
  const server = await shard.withAnswered(["settlement_deltas", "events"]);
  await server.command({
    query: await readQuery("settlement/apply-deltas"),
    query_params: { batch },
    query_id: `${queryIdOf(batch)}${uuidv7()}`,
    clickhouse_settings: { ...ONE_BLOCK, insert_deduplication_token: `settlement:${batch}` },
  });
}

function queryIdOf(batch: string): string {
  return `settlement-${batch}-`;
}

/**
 * Batches that were cut short may be applied to some tables and not to others, and ClickHouse forgets tokens, those of
 * each table after another time. So such a batch is not repeated: its versions are recounted, and the next settlement
 * finds what it left.
 */
export async function recountStaged(
  shards: Shards,
  owner: Pick<OwnerSettlement, "stagedBatches" | "closeBatch" | "whileRecounting">,
): Promise<void> {
  for (const batch of await owner.stagedBatches()) {
    await shards.requireEvery();
    const start = await shards.startedAt();
    for (const shard of shards.shards) await recountOn(shard, batch, owner);
    await syncSince(shards, start);
    await owner.closeBatch(batch);
  }
}

async function recountOn(
  shard: Shard,
  batch: string,
  owner: Pick<OwnerSettlement, "whileRecounting">,
): Promise<void> {
  const server = await shard.withAnswered(["settlement_deltas"]);
  // Its process died, and the statement went on.
  while (await isRunning(server, queryIdOf(batch))) await pause(STILL_RUNNING_MS);
  const select =
    "SELECT artifact, date, event_id, version, import_id FROM settlement_deltas WHERE batch = {batch:UUID}";
  await recount(shard, { select, params: { batch } }, owner);
}

const STILL_RUNNING_MS = 500;

/** Has the next settlement leave no version of the imports live. */
export async function markRetracted(all: Shards, importIds: readonly string[]): Promise<void> {
  const start = await all.startedAt();
  for (const { tables } of all.shards)
    await tables.command({
      query: "INSERT INTO retracted_imports (import_id) SELECT arrayJoin({importIds:Array(UUID)})",
      query_params: { importIds },
      clickhouse_settings: { async_insert: 0 },
    });
  await syncSince(all, start);
}

/** Looks at the versions of all shards: those of one event may lie on several. */
async function findDeltas(shards: Shards, { chunks, retracted }: SettleScope, batch: string): Promise<void> {
  const events = chunks.reduce((sum, chunk) => sum + chunk.events, 0);
  const few = events <= FEW_EVENTS_MAX;
  const narrowed = few ? LOOKED_UP : await readQuery("settlement/events-to-settle");
  await shards.catchUp(["import_events", "event_ids", "retracted_imports"]);
  await shards.all.command({
    query: await deltasOf(shards, { written: "settlement/written-events", narrowed }),
    query_params: {
      batch,
      imports: chunks.map(({ importId }) => importId),
      ...versionsOf(chunks.map(({ stamp }) => stamp)),
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
}

export function fewDeltas(shards: Shards, written: string): Promise<string> {
  return deltasOf(shards, { written, narrowed: LOOKED_UP });
}

const LOOKED_UP = "WHERE (artifact, event_id) IN (SELECT artifact, event_id FROM written)";

async function deltasOf(
  shards: Shards,
  { written, narrowed }: { written: string; narrowed: string },
): Promise<string> {
  const select = await readQuery(written);
  const text = await readQuery("settlement/find-deltas");
  return text
    .replaceAll("{deltas}", shards.own("settlement_deltas"))
    .replace(/^\{written\}$/m, () => select)
    .replaceAll(/^ *\{narrowed\}$/gm, () => narrowed);
}

/** The versions of a batch lie on any shard: each gets the whole batch, and finds those that are its own. */
async function copyDeltas(all: Shards, batch: string): Promise<void> {
  if (all.shards.length === 1) return;
  const columns = "batch, artifact, event_id, version, import_id, date, delta";
  await Promise.all(
    all.shards.map(({ tables }) =>
      tables.command({
        query: `INSERT INTO settlement_deltas (${columns})
          SELECT DISTINCT ${columns} FROM ${all.whole("settlement_deltas")} WHERE batch = {batch:UUID}`,
        query_params: { batch },
        clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
      }),
    ),
  );
}

/** So many ids are looked up in the index of event_ids. More are in nearly every part of it, and reading it is faster. */
const FEW_EVENTS_MAX = 10_000;

async function countDeltas({ all }: Shards, batch: string): Promise<number> {
  const counted = await all.query({
    query: "SELECT count() AS rows FROM settlement_deltas WHERE batch = {batch:UUID}",
    query_params: { batch },
    clickhouse_settings: { max_threads: 1 },
    format: "JSONEachRow",
  });
  const [answer] = await counted.json<{ rows: string }>();
  return Number(answer?.rows ?? 0);
}

/**
 * Deduplication works a block at a time: the same batch must always make the same, single block. A SELECT
 * answers more or fewer blocks after a merge, and the token has the number of the last, so the join squashes
 * its rows into one.
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
