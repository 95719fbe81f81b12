import { LRUCache } from "lru-cache";
import type { ClickHouse } from "../../../../schemas/shards.js";

/** UNKNOWN_STATUS_OF_INSERT: one server has the rows, and too few others had them in time. */
const UNKNOWN_STATUS = "319";
const TOKENS_MAX = 1_000;

/**
 * A server that lost its disk fetches the parts without telling Keeper, so that a repeated insert with a
 * quorum would wait for ever. It is done without one; `spread` resolves once enough servers have all of the
 * shard.
 */
export function finishInserts(tables: ClickHouse, spread: () => Promise<void>): ClickHouse {
  const unknown = new LRUCache<string, true>({ max: TOKENS_MAX });

  async function run<Asked extends Pick<Parameters<ClickHouse["command"]>[0], "clickhouse_settings">, T>(
    asked: Asked,
    call: (asked: Asked) => Promise<T>,
  ): Promise<T> {
    const token = asked.clickhouse_settings?.insert_deduplication_token;
    if (typeof token !== "string") return call(asked);
    if (unknown.has(token)) {
      const settings = { ...asked.clickhouse_settings, insert_quorum: "0" };
      const answer = await call({ ...asked, clickhouse_settings: settings });
      await spread();
      unknown.delete(token);
      return answer;
    }
    try {
      return await call(asked);
    } catch (error) {
      if (codeOf(error) === UNKNOWN_STATUS) unknown.set(token, true);
      throw error;
    }
  }

  return {
    command: (asked) => run(asked, (request) => tables.command(request)),
    exec: (asked) => run(asked, (request) => tables.exec(request)),
    insert: (asked) => run(asked, (request) => tables.insert(request)),
    query: (asked) => tables.query(asked),
  };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
