import { NIL_UUID } from "../../schemas/formats.js";
import type { ClickHouse, Shard, Shards } from "../../schemas/shards.js";
import type { DeadLetterEntry } from "../../schemas/records/chunk-outcome.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { eventIdSql, lineKeySql, LINES_IN_CHUNK } from "../../schemas/records/event-id.js";

/** Parameters are part of the URL of a request. */
const CHUNKS_MAX = 500;

/**
 * Whether any shard has a row of these chunks, also of an insert that was not answered. Used for chunks that
 * were appended again, and before one is excluded or a block is halved.
 */
export async function hasRows({ shards }: Shards, chunks: readonly RawChunk[]): Promise<boolean> {
  for (const shard of shards) if (await hasRowsOn(await shard.withStored(["events"]), chunks)) return true;
  return false;
}

async function hasRowsOn(clickhouse: ClickHouse, chunks: readonly RawChunk[]): Promise<boolean> {
  for (const query_params of paramsOf(chunks)) {
    const answer = await clickhouse.query({ query: HAS_ROWS, query_params, format: "JSONEachRow" });
    const [row] = await answer.json<{ found: number }>();
    if (row === undefined || row.found > 0) return true;
  }
  return false;
}

/** Deletes every row of `events` that these chunks wrote, and none of the tables of its views. */
export async function deleteRows({ tables }: Shard, chunks: readonly RawChunk[]): Promise<void> {
  for (const query_params of paramsOf(chunks))
    await tables.command({
      query: `DELETE FROM events WHERE ${OF_CHUNKS}`,
      query_params,
      clickhouse_settings: { lightweight_deletes_sync: "1", wait_end_of_query: 1 },
    });
}

function paramsOf(chunks: readonly RawChunk[]) {
  return Array.from({ length: Math.ceil(chunks.length / CHUNKS_MAX) }, (_, index) => {
    const some = chunks.slice(index * CHUNKS_MAX, (index + 1) * CHUNKS_MAX);
    return {
      importIds: some.map(({ source, importId }) => (source === "import" ? importId : NIL_UUID)),
      stamps: some.map(({ receiptStamp }) => Math.max(0, receiptStamp)),
      prefixes: some.map(({ importId }) => importId),
      firstLines: some.map(({ firstLine }) => Math.max(0, firstLine)),
    };
  });
}

const STAMP = `intDiv(version, ${LINES_IN_CHUNK})`;
const LINE = `first + version % ${LINES_IN_CHUNK}`;

/**
 * A receipt stamp identifies a chunk of an import. Live chunks may share one, so they are found by event id.
 */
const OF_CHUNKS = `version >= arrayMin({stamps:Array(UInt64)}) * ${LINES_IN_CHUNK}
    AND version < (arrayMax({stamps:Array(UInt64)}) + 1) * ${LINES_IN_CHUNK} AND (import_id, ${STAMP}) IN
    (SELECT arrayJoin(arrayZip({importIds:Array(UUID)}, {stamps:Array(UInt64)})))
    AND (import_id != toUUID('${NIL_UUID}') OR arrayExists(
      (stamp, prefix, first) -> stamp = ${STAMP} AND event_id = ${eventIdSql("artifact", lineKeySql("prefix", LINE))},
      {stamps:Array(UInt64)}, {prefixes:Array(String)}, {firstLines:Array(UInt64)}))`;

const HAS_ROWS = `SELECT toUInt8(count() > 0) AS found FROM events WHERE ${OF_CHUNKS}`;

/** Deletes the log entries of dead letters that are imported now. */
export async function deleteDeadLetterEntries(
  { shards }: Shards,
  entries: readonly DeadLetterEntry[],
): Promise<void> {
  for (const { tables } of shards) for (const entry of entries) await deleteEntry(tables, entry);
}

/** Waits for one server of a shard: another that is down deletes it later. */
async function deleteEntry(clickhouse: ClickHouse, { importId, line }: DeadLetterEntry): Promise<void> {
  await clickhouse.command({
    query: `DELETE FROM import_log
      WHERE import_id = {importId:UUID} AND line = {line:UInt64} AND class = 'error' AND type = 'dead-letter'`,
    query_params: { importId, line },
    clickhouse_settings: { lightweight_deletes_sync: "1", wait_end_of_query: 1 },
  });
}
