import { readRemovedBefore } from "../../api/stores/removed-events.js";
import type { Postgres } from "../../api/stores/query.js";
import type { EventRetention } from "../../schemas/event-retention.js";

/** Days that were closed under a shorter retention stay closed. */
export async function readEventRetention(pg: Postgres, days: number | undefined): Promise<EventRetention> {
  return { days, removedBefore: await readRemovedBefore(pg) };
}
