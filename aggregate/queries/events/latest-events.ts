import type { ClickHouse } from "../../../schemas/shards.js";
import type { LiveEvent } from "../../../schemas/contracts/live-event.js";
import { readQuery } from "../../read-query.js";
import { hideErased } from "../open-rows.js";
import { uuidsLiteral } from "../sql-literals.js";

export type LatestEvent = Omit<LiveEvent, "name">;

export interface LatestQuery {
  artifacts: readonly string[];
  /** When they came, in ms. */
  sinceMs: number;
  /** The most of each artifact, and in all. */
  each: number;
  all: number;
  /** Those that are under way. */
  erasures: readonly string[] | undefined;
  signal: AbortSignal;
}

const SECONDS_MAX = 5;
/** A version is the time in ms times this, and the line of its chunk. */
const VERSION_BITS = 20n;

/** The events that came last, newest first. */
export async function readLatestEvents(
  clickhouse: ClickHouse,
  { artifacts, sinceMs, each, all, erasures, signal }: LatestQuery,
): Promise<LatestEvent[]> {
  if (artifacts.length === 0) return [];
  const query = `WITH ${uuidsLiteral(artifacts)} AS artifacts\n${await readQuery("queries/events/latest-events")}`;
  const answer = await clickhouse.query({
    query,
    query_params: { since: (BigInt(sinceMs) << VERSION_BITS).toString(), each, all },
    format: "JSONEachRow",
    abort_signal: signal,
    clickhouse_settings: {
      date_time_output_format: "iso",
      max_execution_time: SECONDS_MAX,
      // The ids of an owner's artifacts are in the text.
      max_query_size: "67108864",
      cancel_http_readonly_queries_on_client_close: 1,
      ...(await hideErased(clickhouse, erasures, signal)),
    },
  });
  return answer.json<LatestEvent>();
}
