import { describe, expect, test } from "vitest";
import { againstPowerCuts } from "../../../../../../deploy/stores/clickhouse/cluster/against-power-cuts.js";
import type { ClickHouse } from "../../../../../../schemas/shards.js";
import { requireSameStart } from "../../../../../../schemas/sync-since.js";

function serverOf(steps: string[]): ClickHouse {
  return {
    command: async ({ query }: { query: string }) => void steps.push(query),
    query: async () => ({ json: async () => [{ started: 5_000 }] }),
  } as unknown as ClickHouse;
}

describe("a shard", () => {
  test("of a server without Keeper is synced, and says since when it runs", async () => {
    const steps: string[] = [];
    const shard = againstPowerCuts(serverOf(steps), async () => false);
    await shard.sync();
    expect(steps).toEqual(["SYSTEM SYNC FILE CACHE"]);
    expect(await shard.startedAt()).toBe(5_000);
  });

  test("of replicated tables is left alone: they are on the disk", async () => {
    const steps: string[] = [];
    const shard = againstPowerCuts(serverOf(steps), async () => true);
    await shard.sync();
    expect(steps).toEqual([]);
    expect(await shard.startedAt()).toBe(0);
  });

  test("that could not be asked is asked again, and once it has answered not any more", async () => {
    const answers = [Promise.reject(new Error("down")), Promise.resolve(true)];
    const shard = againstPowerCuts(serverOf([]), () => answers.shift() ?? Promise.reject(new Error("asked")));
    await expect(shard.startedAt()).rejects.toThrow("down");
    expect(await shard.startedAt()).toBe(0);
    expect(await shard.startedAt()).toBe(0);
  });
});

test.each([[[90_000, 2_000]], [[1_000, 90_000]]])(
  "work on two shards is done again when either started again",
  async (now) => {
    await requireSameStart({ startedAt: async () => [1_000, 2_500] }, [1_000, 2_000]);
    await expect(requireSameStart({ startedAt: async () => now }, [1_000, 2_000])).rejects.toThrow(
      "restarted",
    );
  },
);
