import { readFile } from "node:fs/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import { assetUrl } from "../../../schemas/asset.js";

const BLOCK = 500_000;

/** Inserts that many events of one package straight into ClickHouse, and lets it merge them. */
export async function fillEvents(
  clickhouse: ClickHouseClient,
  { packageId, events }: { packageId: string; events: number },
): Promise<void> {
  const query = await readFile(assetUrl("test/bench/csv/fill-events.sql"), "utf8");
  for (let first = 0; first < events; first += BLOCK) {
    const count = Math.min(BLOCK, events - first);
    const params = { artifact: packageId, first: String(first), count: String(count) };
    await clickhouse.command({ query, query_params: params });
  }
  // A merge in the middle of a measurement would slow the one or the other.
  await clickhouse.command({ query: "OPTIMIZE TABLE events FINAL" });
}
