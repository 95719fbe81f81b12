import { randomUUID } from "node:crypto";
import type { Shards } from "../../schemas/shards.js";
import type { FunnelOwner } from "../../schemas/records/funnel.js";
import { POINTS, POINTS_MAX } from "./decide-company.js";

/** Parameters of the statements that count points. */
export const POINTS_PARAMS = {
  downloadPointsDayMax: POINTS_MAX.package.day,
  downloadPointsMax: POINTS_MAX.package.window,
  viewPointsDayMax: POINTS_MAX.pixel.day,
  viewPointsMax: POINTS_MAX.pixel.window,
};

/**
 * Puts the packages and pixels of the owners where statements join them with activity, and waits until all servers
 * have what they read. Answers the batch that the statements ask for; undefined if the owners have none.
 */
export async function putArtifacts(
  shards: Shards,
  owners: readonly FunnelOwner[],
): Promise<string | undefined> {
  const batch = randomUUID();
  const rows = owners.flatMap(({ artifacts }, ownerIndex) =>
    artifacts.map(({ id, kind, importance }) => ({
      batch,
      artifact: id,
      place: ownerIndex,
      points: POINTS[kind][importance],
    })),
  );
  if (rows.length === 0) return undefined;
  // On one shard alone: it is joined with the rows of all shards, and a second copy would count each point twice.
  await shards.all.insert({
    table: shards.own("funnel_artifacts"),
    columns: ["batch", "artifact", "place", "points"],
    values: rows,
    format: "JSONEachRow",
    clickhouse_settings: {
      async_insert: 0,
      wait_end_of_query: 1,
      insert_deduplicate: 1,
      insert_deduplication_token: `funnel:${batch}`,
    },
  });
  await shards.catchUp(["funnel_artifacts", "company_activity"]);
  return batch;
}
