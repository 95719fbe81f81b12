import type { ClickHouse, Shards } from "../../schemas/shards.js";
import { readQuery } from "../read-query.js";

/**
 * Merges the breakdown of addresses where an erasure left rows that add up to nothing: a merge deletes them, and nothing else
 * is sure not to delete a row that is being added. Answers whether there were any. Takes some seconds for ten million rows.
 */
export async function mergeAddresses({ shards }: Shards, erasure: string): Promise<boolean> {
  let found = false;
  // A version and the row that removes it lie on one shard.
  for (const { servers } of shards)
    for (const server of servers) if (await mergeOn(server, erasure)) found = true;
  return found;
}

async function mergeOn(clickhouse: ClickHouse, erasure: string): Promise<boolean> {
  const answer = await clickhouse.query({
    query: await readQuery("erasures/empty-addresses"),
    query_params: { erasure },
    format: "JSONEachRow",
  });
  if ((await answer.json()).length === 0) return false;
  await clickhouse.command({
    query: "OPTIMIZE TABLE uniques FINAL",
    clickhouse_settings: { alter_sync: "0" },
  });
  return true;
}
