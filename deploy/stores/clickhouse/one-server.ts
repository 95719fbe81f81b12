import type { ClickHouse, Shard, Shards } from "../../../schemas/shards.js";

/** The shards of one server: it has all rows, in one database. */
export function oneServer(clickhouse: ClickHouse): Shards {
  const shard: Shard = {
    name: undefined,
    tables: clickhouse,
    servers: [clickhouse],
    withStored: async () => clickhouse,
    withAnswered: async () => clickhouse,
  };
  return {
    all: clickhouse,
    shards: [shard],
    named(name) {
      if (name === undefined) return shard;
      throw new Error(`a recorded range went to shard ${name}, which CLICKHOUSE_SHARDS does not name`);
    },
    choose: async () => shard,
    own: (table) => table,
    whole: (table) => table,
    catchUp: async () => undefined,
    requireEvery: async () => undefined,
  };
}
