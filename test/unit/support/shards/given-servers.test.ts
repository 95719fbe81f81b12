import { expect, test } from "vitest";
import { findGivenServers, serverNames, type GivenServers } from "../../../support/shards/given-servers.js";

const SHARDS = "a: http://h1:1 http://h2:2; west: http://h3:3 http://h4:4";

test("given servers have the names of their shard and their place in it", () => {
  const { shards } = findGivenServers({ TEST_CLICKHOUSE_SHARDS: SHARDS }) as GivenServers;
  expect(serverNames(shards)).toEqual(["a1", "a2", "west1", "west2"]);
});

test("without servers, or without replicas, a sentence says what to set", () => {
  for (const text of [undefined, "", "a: http://h1:1; b: http://h2:2"])
    expect(findGivenServers({ TEST_CLICKHOUSE_SHARDS: text })).toEqual({
      missing: expect.stringMatching(/TEST_CLICKHOUSE_SHARDS.*such as a: .*\.$/) as string,
    });
});

test("servers in another form are refused, and not skipped", () => {
  expect(() => findGivenServers({ TEST_CLICKHOUSE_SHARDS: "http://h1:1" })).toThrow(
    "TEST_CLICKHOUSE_SHARDS must be",
  );
});

test("they are controlled only by a command that is given", async () => {
  const given = (command: string) =>
    findGivenServers({ TEST_CLICKHOUSE_SHARDS: SHARDS, TEST_CLICKHOUSE_CONTROL: command }) as GivenServers;
  expect(given("")).not.toHaveProperty("control");
  await given("test 'kill a1' =")
    .control?.("kill", "a1")
    .catch(() => undefined);
  await expect(given("false").control?.("kill", "a1")).rejects.toThrow("false kill a1 failed");
  await expect(given("true").control?.("kill", "a1")).resolves.toBeUndefined();
});
