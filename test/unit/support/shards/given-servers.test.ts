import { expect, test } from "vitest";
import { findGivenServers, serverNames, type GivenServers } from "../../../support/shards/given-servers.js";

const SHARDS = "a: http://h1:1 http://h2:2; west: http://h3:3 http://h4:4";

test("given servers have the names of their shard and their place in it", () => {
  const { shards } = findGivenServers({ TEST_CLICKHOUSE_SHARDS: SHARDS }) as GivenServers;
  expect(serverNames(shards)).toEqual(["a1", "a2", "west1", "west2"]);
});

test("servers in another form are refused, and not skipped", () => {
  expect(() => findGivenServers({ TEST_CLICKHOUSE_SHARDS: "http://h1:1" })).toThrow(
    "TEST_CLICKHOUSE_SHARDS must be",
  );
});
