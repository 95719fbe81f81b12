import type { VariableSchema } from "./variable-schema.js";

/** Several servers of ClickHouse. */
export const CLICKHOUSE_VARIABLES = {
  CLICKHOUSE_SHARDS: {
    type: "string",
    format: "shards",
    mustBe:
      "shards with the URLs of their servers, such as a: http://a1:8123 http://a2:8123; b: http://b1:8123",
    unset: "the one server of `CLICKHOUSE_URL`",
    meaning:
      "The names of the shards, and the servers of each: its replicas. The user, the password and the database are those of " +
      "`CLICKHOUSE_URL`; its host is not used. A name is never given to another shard.",
  },
  CLICKHOUSE_CLUSTER: {
    type: "string",
    format: "name",
    mustBe: "letters, digits, dots, hyphens and underscores",
    default: "maintainer",
    meaning: "The name of the cluster in the `remote_servers` of every server of `CLICKHOUSE_SHARDS`.",
  },
  CLICKHOUSE_QUORUM: {
    type: "string",
    format: "replicas",
    mustBe: "a whole number from 1 to 100",
    unset: "the majority of a shard's servers",
    meaning: "The number of servers of a shard that must have a row before it counts as written.",
  },
} as const satisfies Record<string, VariableSchema>;
