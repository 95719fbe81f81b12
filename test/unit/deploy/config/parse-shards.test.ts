import { expect, test } from "vitest";
import { parseConfig } from "../../../../deploy/config/config.js";

const CLICKHOUSE_URL = "https://app:word@unused.example/events";
const TWO = "a: http://a1:8123 http://a2:8123; b: http://b1:8123 http://b2:8123";
const clusterOf = (env: Record<string, string>) => parseConfig({ CLICKHOUSE_URL, ...env }).clickhouseCluster;

test("shards are read with their servers, over one line or several", () => {
  const shards = [
    { name: "a", servers: ["http://a1:8123", "http://a2:8123"] },
    { name: "b", servers: ["http://b1:8123", "http://b2:8123"] },
  ];
  expect(clusterOf({ CLICKHOUSE_SHARDS: TWO })).toEqual({ name: "maintainer", shards });
  expect(clusterOf({ CLICKHOUSE_SHARDS: `\n${TWO.replace("; ", ";\n  ")};\n` })?.shards).toEqual(shards);
  expect(clusterOf({ CLICKHOUSE_SHARDS: TWO, CLICKHOUSE_CLUSTER: "events", CLICKHOUSE_QUORUM: "2" })).toEqual(
    {
      name: "events",
      shards,
      quorum: 2,
    },
  );
  expect(clusterOf({})).toBeUndefined();
});

test.each([
  ["; ;", "it does not name a shard"],
  ["http://a1:8123", "shard 1 must begin with a name"],
  ["a http://a1:8123", "shard 1 must begin with a name"],
  [`${"a".repeat(33)}: http://a1`, "shard 1 must begin with a name"],
  ["a: http://a1; http://app:word@b1", "shard 2 must begin with a name"],
  ["a:", "shard a has no server"],
  ["a: http://a1; a: http://a2", "two shards have the name a"],
  ["a: http://a1; b: http://a1:80", "the server http://a1 is listed twice"],
  ["a: a1:8123", "server 1 of shard a must be an http:// or https:// URL with only a host and a port"],
  ["a: http://a1 http://app:word@a2", "server 2 of shard a must be"],
  ["a: http://a1/events", "server 1 of shard a must be"],
])("is refused with its reason, and without its text, which may hold a password: %s", (text, reason) => {
  let message = "";
  try {
    clusterOf({ CLICKHOUSE_SHARDS: text });
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message).toMatch(/^CLICKHOUSE_SHARDS must be shards with the URLs of their servers, such as /);
  expect(message).toContain(reason);
  expect(message).not.toContain("word");
});

test.each([
  [
    { CLICKHOUSE_SHARDS: TWO, CLICKHOUSE_URL: "" },
    "CLICKHOUSE_URL is required because CLICKHOUSE_SHARDS is set; set it to an http:// or https:// URL",
  ],
  [{ CLICKHOUSE_QUORUM: "2" }, "CLICKHOUSE_SHARDS is required because"],
  [
    { CLICKHOUSE_SHARDS: TWO, CLICKHOUSE_QUORUM: "0" },
    "CLICKHOUSE_QUORUM must be a whole number from 1 to 100",
  ],
  [
    { CLICKHOUSE_SHARDS: TWO, CLICKHOUSE_QUORUM: "3" },
    'CLICKHOUSE_QUORUM must not exceed the number of servers in any shard; it is "3", but shard a has only 2',
  ],
])("is refused where it fits nothing: %o", (env, sentence) => {
  expect(() => clusterOf(env)).toThrow(sentence);
});
