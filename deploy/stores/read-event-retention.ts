import { readRemovedBefore } from "../../api/postgres/removed-events.js";
import type { Postgres } from "../../api/postgres/query.js";
import type { EventRetention } from "../../schemas/event-retention.js";

/** Days that were closed under a shorter retention stay closed. */
export async function readEventRetention(pg: Postgres, days: number | undefined): Promise<EventRetention> {
  return { days, removedBefore: await readRemovedBefore(pg) };
}
