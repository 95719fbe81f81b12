import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createClusterMetrics, shardsThatTake } from "../../../../deploy/metrics/jobs-metrics.js";
import type { ServerState } from "../../../../schemas/shards.js";

const FACTS = {
  readOnlyTables: 0,
  queueEntries: 3,
  delaySeconds: 12,
  quorumFailures: 7,
};

const state = (server: string, changed: Partial<ServerState> = {}): ServerState => ({
  shard: server.slice(0, 1),
  server: `${server}:8123`,
  quorum: 2,
  isUp: true,
  facts: FACTS,
  ...changed,
});

const DOWN = { isUp: false, facts: undefined };
const READ_ONLY = { facts: { ...FACTS, readOnlyTables: 19 } };

test.each<[string, ServerState[], boolean]>([
  ["with all of its servers", [state("a1"), state("a2")], true],
  ["with the majority of three", [state("a1"), state("a2"), state("a3", DOWN)], true],
  ["that lacks one of two", [state("a1"), state("a2", DOWN)], false],
  ["of which one has lost Keeper", [state("a1"), state("a2", READ_ONLY)], false],
  ["without any server", [state("a1", DOWN), state("a2", DOWN)], false],
  ["of one server that suffices", [state("a1", { quorum: 1 })], true],
])("a shard %s takes inserts or not", (_, states, takes) => {
  expect(shardsThatTake(states)).toEqual(new Map([["a", takes]]));
});

test("each server is measured, and one that is down only says that it is", async () => {
  const registry = new Registry();
  let asked = 0;
  const states = [state("a1"), state("a2", DOWN), state("b1", { quorum: 1 })];
  createClusterMetrics(registry, { readServers: async () => (asked++, states) });
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("clickhouse_"));
  expect(lines).toEqual([
    'clickhouse_server_up{shard="a",server="a1:8123"} 1',
    'clickhouse_server_up{shard="a",server="a2:8123"} 0',
    'clickhouse_server_up{shard="b",server="b1:8123"} 1',
    'clickhouse_shard_takes_inserts{shard="a"} 0',
    'clickhouse_shard_takes_inserts{shard="b"} 1',
    'clickhouse_read_only_tables{shard="a",server="a1:8123"} 0',
    'clickhouse_read_only_tables{shard="b",server="b1:8123"} 0',
    'clickhouse_replication_queue_entries{shard="a",server="a1:8123"} 3',
    'clickhouse_replication_queue_entries{shard="b",server="b1:8123"} 3',
    'clickhouse_replication_delay_seconds{shard="a",server="a1:8123"} 12',
    'clickhouse_replication_delay_seconds{shard="b",server="b1:8123"} 12',
    'clickhouse_quorum_failures_total{shard="a",server="a1:8123"} 7',
    'clickhouse_quorum_failures_total{shard="b",server="b1:8123"} 7',
  ]);
  expect(asked).toBe(1);
});
