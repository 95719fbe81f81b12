import type { FaultWorld } from "../worlds/fault-world.js";

/** Counts the shards whose servers do not all have the same rows of a package. */
export async function countDifferingReplicas(
  shards: FaultWorld["shards"],
  packageId: string,
): Promise<number> {
  let differing = 0;
  for (const servers of shards) {
    const digests = new Set<string>();
    for (const server of servers) {
      const [row] = await server.rows<{ digest: string }>(`
        SELECT sum(cityHash64(event_id, version, import_id, sign)) AS digest FROM events
        WHERE artifact = '${packageId}'`);
      digests.add(row?.digest ?? "");
    }
    if (digests.size > 1) differing += 1;
  }
  return differing;
}
