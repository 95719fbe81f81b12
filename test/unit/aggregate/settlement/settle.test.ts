import type { ClickHouseClient } from "@clickhouse/client";
import { describe, expect, test } from "vitest";
import { markRetracted, recountStaged, settle } from "../../../../aggregate/settlement/settle.js";
import type { OwnerSettlement } from "../../../../schemas/records/settlement.js";
import type { Shard, Shards } from "../../../../schemas/shards.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";

const BATCH = "01990000-0000-7000-8000-0000000000ba";
const [ONE, OTHER] = ["01990000-0000-7000-8000-0000000000aa", "01990000-0000-7000-8000-0000000000bb"];
const scope = {
  chunks: [
    { importId: ONE, stamp: 1_700_000_000_005, events: 3 },
    { importId: OTHER, stamp: 1_700_000_000_000, events: 4 },
  ],
  retracted: false,
};

const SYNC = "SYSTEM SYNC FILE CACHE";

interface Command {
  query: string;
  query_params: Record<string, unknown>;
  clickhouse_settings?: Record<string, unknown>;
}

interface Fakes {
  /** How many rows ClickHouse finds. */
  differing?: number;
  /** The table of an insert that fails. */
  failing?: string;
  /** The table of the insert after which its power is cut. */
  cutAfter?: string;
}

/** Writes down, in order, what settlement does. */
function fakes({ differing = 1, failing = "nothing", cutAfter = "nothing" }: Fakes = {}) {
  const steps: string[] = [];
  const commands: Command[] = [];
  const server = oneServer({
    command: async (command: Command) => {
      if (command.query === SYNC) return void steps.push("sync");
      const table = /INSERT INTO (\w+)/.exec(command.query)?.[1] ?? "";
      await Promise.all(
        [table].filter((name) => name === failing).map((name) => Promise.reject(new Error(name))),
      );
      steps.push(table);
      commands.push(command);
    },
    query: async ({ query }: Command) => ({
      json: async () => (query.includes("FROM settlement_deltas") ? [{ rows: String(differing) }] : []),
    }),
  } as unknown as ClickHouseClient);
  const shards = { ...server, startedAt: async () => [steps.includes(cutAfter) ? 90_000 : 1_000] };
  const owner = {
    putStagedBatch: async (batch: string) => void steps.push(`staged ${batch}`),
    closeBatch: async (batch: string) => void steps.push(`closed ${batch}`),
    whileInserting: (work: () => Promise<unknown>) => work(),
    stagedBatches: async () => [BATCH],
    whileRecounting: (work: () => Promise<unknown>) => work(),
  } as unknown as OwnerSettlement;
  return { shards, owner, steps, commands };
}

describe("settle", () => {
  test("finds and stages before it applies, closes last, and syncs before PostgreSQL knows of either", async () => {
    const { shards, owner, steps } = fakes({ differing: 3 });
    expect(await settle(shards, scope, { batch: BATCH, owner })).toBe(3);
    expect(steps).toEqual([
      ...["settlement_deltas", "sync", `staged ${BATCH}`],
      ...["events", "sync", `closed ${BATCH}`],
    ]);
  });

  test("does nothing more when no event can differ", async () => {
    const { shards, owner, steps } = fakes({ differing: 0 });
    expect(await settle(shards, scope, { batch: BATCH, owner })).toBe(0);
    expect(steps).toEqual(["settlement_deltas"]);
  });

  test("looks at every version of its chunks, from the first stamp through the last", async () => {
    const { shards, owner, commands } = fakes({ differing: 0 });
    await settle(shards, scope, { batch: BATCH, owner });
    expect(commands[0]?.query_params).toEqual({
      batch: BATCH,
      imports: [ONE, OTHER],
      stamps: [1_700_000_000_005, 1_700_000_000_000],
      fromVersion: String(1_700_000_000_000n * 1_048_576n),
      toVersion: String(1_700_000_000_006n * 1_048_576n),
      linesInChunk: 1_048_576,
      retracted: false,
    });
  });

  test.each([
    ["each by its id", 10_000, "WHERE (artifact, event_id) IN"],
    ["by a part of their ids", 10_001, "PREWHERE toUInt32(event_id) IN"],
  ])("finds events %s, with %i of them", async (_, events, condition) => {
    const { shards, owner, commands } = fakes({ differing: 0 });
    const chunks = [{ importId: ONE, stamp: 1, events }];
    await settle(shards, { chunks, retracted: false }, { batch: BATCH, owner });
    expect(commands[0]?.query).toContain(condition);
  });

  test("applies a batch under a token of its own, so that a second time does nothing", async () => {
    const { shards, owner, commands } = fakes({ differing: 1 });
    await settle(shards, scope, { batch: BATCH, owner });
    expect(commands.at(-1)?.clickhouse_settings).toMatchObject({
      insert_deduplication_token: `settlement:${BATCH}`,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      max_insert_threads: "1",
    });
  });

  test.each([
    ["settlement_deltas", []],
    ["events", ["settlement_deltas", "sync", `staged ${BATCH}`]],
  ])("leaves a batch open when the insert into %s fails", async (failing, done) => {
    const { shards, owner, steps } = fakes({ differing: 1, failing });
    await expect(settle(shards, scope, { batch: BATCH, owner })).rejects.toThrow(failing);
    expect(steps).toEqual(done);
  });

  test.each([
    ["settlement_deltas", 1, ["settlement_deltas", "sync"]],
    ["settlement_deltas", 0, ["settlement_deltas"]],
    ["events", 1, ["settlement_deltas", "sync", `staged ${BATCH}`, "events", "sync"]],
  ])(
    "neither stages nor closes a batch when the power was cut after the insert into %s, and %i rows are left",
    async (cutAfter, differing, done) => {
      const { shards, owner, steps } = fakes({ cutAfter, differing });
      await expect(settle(shards, scope, { batch: BATCH, owner })).rejects.toThrow("ClickHouse restarted");
      expect(steps).toEqual(done);
    },
  );

  test("marks imports as retracted once more when the power was cut before the marks were on the disk", async () => {
    const { shards } = fakes({ cutAfter: "retracted_imports" });
    await expect(markRetracted(shards, [ONE])).rejects.toThrow("ClickHouse restarted");
    await expect(markRetracted(shards, [ONE])).resolves.toBeUndefined();
  });

  test("closes no batch of before when the power was cut before its recount was on the disk", async () => {
    const { shards, owner, steps } = fakes({ cutAfter: "event_ids" });
    await expect(recountStaged(shards, owner)).rejects.toThrow("ClickHouse restarted");
    await recountStaged(shards, owner);
    const ends = steps.filter((step) => step === "sync" || step.startsWith("closed"));
    expect(ends).toEqual(["sync", "sync", `closed ${BATCH}`]);
  });

  test("gives each shard all that was found, then applies on each", async () => {
    const steps: string[] = [];
    const serverOf = (name: string) =>
      ({
        command: async ({ query }: Command) => {
          if (query === SYNC) return void steps.push("sync");
          const [, table] = /INSERT INTO (\S+)/.exec(query) ?? [];
          steps.push(`${name} ${table}${query.includes("FROM every.settlement_deltas") ? " copied" : ""}`);
        },
        query: async () => ({ json: async () => [{ rows: "3", name: "artifact" }] }),
      }) as unknown as ClickHouseClient;
    const shards = ["a", "b"].map((name) => {
      const [one] = oneServer(serverOf(name)).shards;
      return { ...(one as Shard), name };
    });
    const all: Shards = {
      ...oneServer(serverOf("any")),
      shards,
      own: (table) => `own.${table}`,
      whole: (table) => `every.${table}`,
    };
    const { owner } = fakes({ differing: 3 });
    const putStagedBatch = async () => void steps.push("staged");
    await settle(all, scope, { batch: BATCH, owner: { ...owner, putStagedBatch } });
    expect(steps).toEqual([
      "any own.settlement_deltas",
      "a settlement_deltas copied",
      "b settlement_deltas copied",
      ...["sync", "staged"],
      ...["a events", "b events", "sync"],
    ]);
  });
});
