import { expect, test } from "vitest";
import {
  checkMacros,
  checkUuids,
  requireShardsOf,
  type ServerView,
} from "../../../../../../deploy/stores/clickhouse/cluster/check-cluster.js";

const CLUSTER = {
  name: "maintainer",
  shards: ["a", "b"].map((name) => ({ name, quorum: 2, urls: [`http://${name}1`, `http://${name}2`] })),
};
const server = (name: string, facts: Partial<ServerView> = {}): ServerView => ({
  server: name,
  shard: name.charAt(0),
  shardMacro: name.charAt(0),
  replicates: true,
  shards: 2,
  uuid: name,
  ...facts,
});
const check =
  (...facts: ServerView[]) =>
  () =>
    checkMacros(facts, CLUSTER);

test("servers that agree with the configuration pass, also when some are down", () => {
  expect(check(server("a1"), server("a2"), server("b1"), server("b2"))).not.toThrow();
  expect(check(server("b2", { shardMacro: "02" }), server("a1", { shardMacro: "01" }))).not.toThrow();
});

test("servers without replicas need no macros", () => {
  const shards = CLUSTER.shards.map((shard) => ({ ...shard, urls: shard.urls.slice(0, 1) }));
  const plain = { replicates: false, shardMacro: "" };
  expect(() => checkMacros([server("a1", plain), server("b1", plain)], { ...CLUSTER, shards })).not.toThrow();
});

test("a shard that a server does not know would be missing from every number", () => {
  expect(() => requireShardsOf(server("a1"), CLUSTER)).not.toThrow();
  expect(() => requireShardsOf(server("b1", { shards: 1 }), CLUSTER)).toThrow(
    "CLICKHOUSE_SHARDS names 2 shards, but the cluster maintainer has 1 in remote_servers of b1",
  );
});

test("several servers of a shard must replicate", () => {
  expect(check(server("a1"), server("a2", { replicates: false }))).toThrow(
    "a2 does not define the macro replica",
  );
});

test("servers of one shard have one macro, and those of others another", () => {
  expect(check(server("a1"), server("a2", { shardMacro: "b" }))).toThrow(
    "servers of the same shard must have the same macro",
  );
  expect(check(server("a1"), server("b1", { shardMacro: "a" }))).toThrow(
    "servers of the same shard must have the same macro",
  );
});

test("no server has the UUID of another: Keeper would take them for one", () => {
  expect(() => checkUuids([server("a1"), server("b1")])).not.toThrow();
  const copied = { uuid: "6b1a5a0e-0f0c-4b7e-9c55-0f0f0f0f0f0f" };
  expect(() => checkUuids([server("a1", copied), server("b1", copied)])).toThrow(
    "a1 and b1 have the same UUID",
  );
  const none = { uuid: "00000000-0000-0000-0000-000000000000" };
  expect(() => checkUuids([server("a1", none), server("a2", none)])).not.toThrow();
});
