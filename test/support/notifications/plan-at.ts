import type { Pool } from "pg";
import { planMessages } from "../../../api/features/notifications/plan-messages.js";
import type { ClickHouse } from "../../../schemas/shards.js";

/** What the program's job does, as of this time. */
export function planAt(stores: { pg: Pool; clickhouse: ClickHouse }, now: Date): Promise<number> {
  const onFailure = (error: unknown) => {
    throw error;
  };
  return planMessages({ ...stores, signal: AbortSignal.timeout(60_000), now: () => now, onFailure });
}
