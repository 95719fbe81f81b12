import { ClickHouseError } from "@clickhouse/client";
import type { ServerFacts, ServerState } from "../../../../schemas/shards.js";
import type { ClusterServers } from "../clickhouse-source.js";
import { connectClickHouse } from "../connect-clickhouse.js";

export interface WatchedServers extends AsyncDisposable {
  read(): Promise<ServerState[]>;
}

/** Shorter than the timeout of a scrape. */
const ANSWER_MS_MAX = 2_000;

export function watchServers({ shards }: Pick<ClusterServers, "shards">): WatchedServers {
  const servers = shards.flatMap(({ name, urls, quorum }) =>
    urls.map((url) => ({
      place: { shard: name, server: new URL(url).host, quorum },
      client: connectClickHouse(url),
    })),
  );
  return {
    read: () =>
      Promise.all(
        servers.map(async ({ place, client }) => {
          try {
            const abort_signal = AbortSignal.timeout(ANSWER_MS_MAX);
            const answer = await client.query({ query: FACTS, format: "JSONEachRow", abort_signal });
            const [row = {}] = await answer.json<Record<string, unknown>>();
            return { ...place, isUp: true, facts: factsOf(row) };
          } catch (error) {
            return { ...place, isUp: error instanceof ClickHouseError, facts: undefined };
          }
        }),
      ),
    [Symbol.asyncDispose]: async () => void (await Promise.all(servers.map(({ client }) => client.close()))),
  };
}

/** Undefined for a server without tables: it takes no inserts. */
function factsOf(row: Record<string, unknown>): ServerFacts | undefined {
  const numberOf = (column: string) => Number(row[column]);
  if (numberOf("tables") === 0) return undefined;
  return {
    readOnlyTables: numberOf("read_only"),
    queueEntries: numberOf("queue"),
    delaySeconds: numberOf("delay"),
    quorumFailures: numberOf("quorum_failures"),
  };
}

/** 285 TOO_FEW_LIVE_REPLICAS, 286 UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, 319 UNKNOWN_STATUS_OF_INSERT. */
const FACTS = `
  SELECT countIf(is_readonly) AS read_only, sum(queue_size) AS queue, max(absolute_delay) AS delay,
    (SELECT sum(value) FROM system.errors WHERE code IN (285, 286, 319)) AS quorum_failures,
    (SELECT count() FROM system.tables WHERE database = currentDatabase()) AS tables
  FROM system.replicas WHERE database = currentDatabase()`;
