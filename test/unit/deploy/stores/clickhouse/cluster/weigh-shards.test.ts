import { expect, test } from "vitest";
import { weighShards } from "../../../../../../deploy/stores/clickhouse/cluster/connect-shard.js";

const GIB = 1024 ** 3;
const shard = (name: string, { servers = 2, quorum = 2, freeBytes = GIB } = {}) => ({
  name,
  servers,
  quorum,
  freeBytes,
});
const chosen = (shards: readonly ReturnType<typeof shard>[]) =>
  [0, 0.24, 0.26, 0.5, 0.74, 0.76, 0.999].map((random) => weighShards(shards, random)?.name).join("");

test("a shard is chosen as often as it has room", () => {
  expect(chosen([shard("a"), shard("b")])).toBe("aaabbbb");
  expect(chosen([shard("a"), shard("b", { freeBytes: 3 * GIB })])).toBe("aabbbbb");
  expect(chosen([shard("a", { freeBytes: 0 }), shard("b", { freeBytes: 0 })])).toBe("aaabbbb");
});

test("a shard without its quorum is passed over", () => {
  expect(chosen([shard("a", { servers: 1 }), shard("b")])).toBe("bbbbbbb");
  expect(
    chosen([shard("a", { servers: 0 }), shard("b", { servers: 0 }), shard("c", { servers: 1, quorum: 1 })]),
  ).toBe("ccccccc");
});

test("where no shard has its quorum, those that lack fewest servers are waited for", () => {
  expect(chosen([shard("a", { servers: 0 }), shard("b", { servers: 1 })])).toBe("bbbbbbb");
});
