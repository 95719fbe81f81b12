import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  clickHouseConfig,
  clickHouseUsers,
  engineMemory,
} from "../../../../../../deploy/stores/embedded/clickhouse/clickhouse-config.js";

const USER = { username: "somebody", password: "open sesame" };

test("the engine gets a server's merge threads and the given memory, with caches that are parts of it", () => {
  const xml = clickHouseConfig({ usersPath: "/data/users.xml", user: USER, memoryBytesMax: 3_200_000 });
  expect(xml).toContain("<background_pool_size>16</background_pool_size>");
  expect(xml).toContain("<max_server_memory_usage>3200000</max_server_memory_usage>");
  expect(xml).toContain("<mark_cache_size>100000</mark_cache_size>");
});

test.each([
  ["half of a machine without a limit", 0, 4, 2],
  ["half of the machine where a limit is larger", 64, 4, 2],
  ["half of a container", 2, 64, 1],
  ["8 GiB of a large machine", 0, 64, 8],
])("the engine gets %s", (_, limit, machine, given) => {
  expect(engineMemory(limit * 2 ** 30, machine * 2 ** 30)).toBe(given * 2 ** 30);
});

test("merges gather no statistics of columns", () => {
  const xml = clickHouseConfig({ usersPath: "/data/users.xml", user: USER, memoryBytesMax: 1 });
  expect(xml).toContain("<auto_statistics_types></auto_statistics_types>");
});

test("a path with characters of XML stays that path", () => {
  const xml = clickHouseConfig({ usersPath: "/a&b/<c>", user: USER, memoryBytesMax: 1 });
  expect(xml).toContain("<users_config>/a&amp;b/&lt;c&gt;</users_config>");
});

test("the password is not in the file, only its hash", () => {
  const xml = clickHouseUsers({ username: "somebody", password: "open sesame" });
  expect(xml).not.toContain("open sesame");
  expect(xml).toContain(createHash("sha256").update("open sesame").digest("hex"));
});

test("the user without a password has two grants and two queries", () => {
  const xml = clickHouseUsers({ username: "somebody", password: "x" });
  const grants = [...xml.matchAll(/<query>(.*?)<\/query>/g)].map((match) => match[1]);
  expect(grants).toEqual(["GRANT SYSTEM LISTEN ON *.*", "GRANT SELECT ON system.numbers"]);
  expect(xml).toContain("<queries>2</queries>");
});
