import type { ClickHouseClient } from "@clickhouse/client";
import { describe, expect, test, vi } from "vitest";
import { type EraserDependencies, startEraser } from "../../../../aggregate/erasures/erase-artifacts.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";

interface Fakes {
  /** Rows of artifacts by table; a mutation takes them away. */
  rows: Record<string, string[]>;
  elsewhere?: string[];
  /** Of imports into the artifacts. */
  imports?: string[];
  failures?: number;
  /** When ClickHouse had started, each time that it is asked; then 90,000. */
  starts?: number[];
  /** Retracted imports whose logs are not erased. */
  retracted?: string[];
}

/** One owner with two deleted artifacts, and a ClickHouse that writes down what is asked of it. */
function fakes({ rows, elsewhere = [], failures = 0, imports = [], retracted = [], starts = [] }: Fakes) {
  const steps: string[] = [];
  let failuresLeft = failures;
  let due = ["a", "b"];
  const asked = vi.fn(async () => (due.length > 0 ? ["owner"] : []));
  const store: EraserDependencies["store"] = {
    dueOwners: asked,
    dueArtifacts: async () => due,
    importsWithoutLog: async () => retracted,
    emptySamples: async (ids) => void steps.push(`samples emptied ${ids.join()}`),
    putLogsErased: async (ids) => {
      steps.push(`logs erased ${ids.join()}`);
      retracted = [];
    },
    importsInto: async (_, { after }) => (after === undefined ? imports : []),
    asOnlySettlement: async (ownerId, work) => {
      if (failuresLeft-- > 0) throw new Error("connection refused");
      if (elsewhere.includes(ownerId)) return false;
      steps.push("lock");
      await work();
      steps.push("unlock");
      return true;
    },
    putFound: async (artifacts) => void steps.push(`found ${artifacts.join()}`),
    putClean: async (artifacts) => {
      steps.push(`clean ${artifacts.join()}`);
      due = [];
    },
  };
  const answer = (query: string, table: string) =>
    query.includes("system.mutations")
      ? []
      : query.includes("system.columns")
        ? Object.keys(rows)
            .filter((name) => name !== "import_log")
            .map((name) => ({ table: name, column: "artifact" }))
        : (rows[table] ?? []);
  const server = oneServer({
    query: async ({ query, query_params: params }: { query: string; query_params?: { table: string } }) => ({
      json: async () => answer(query, params?.table ?? ""),
    }),
    command: async ({ query_params: { table } = { table: "" } }: { query_params?: { table: string } }) => {
      steps.push(table === "" ? "sync" : `delete from ${table}`);
      rows[table] = [];
    },
  } as unknown as ClickHouseClient);
  const shards = { ...server, startedAt: async () => [starts.shift() ?? 90_000] };
  return { store, asked, shards, steps, onErased: vi.fn(), onFailure: vi.fn() };
}

/** Runs it until `reached`. */
async function runUntil(dependencies: ReturnType<typeof fakes>, reached: () => boolean): Promise<void> {
  const eraser = startEraser({ ...dependencies, everyMs: 1 });
  await vi.waitUntil(reached);
  await eraser[Symbol.asyncDispose]();
}

describe("the eraser", () => {
  test("deletes only where something is, under the lock, and says so when nothing is left", async () => {
    const world = fakes({ rows: { events: ["a"], totals: [], clients: ["b"] } });
    await runUntil(world, () => world.onErased.mock.calls.length > 0);
    expect(world.steps).toEqual([
      ...["lock", "delete from events", "delete from clients", "found a,b", "unlock"],
      ...["lock", "sync", "clean a,b", "unlock"],
    ]);
    expect(world.onErased).toHaveBeenCalledExactlyOnceWith(["a", "b"]);
  });

  test("deletes the logs of the imports into them, which hold lines as they were sent, and the samples", async () => {
    const world = fakes({ rows: { events: [], import_log: ["first"] }, imports: ["first"] });
    await runUntil(world, () => world.onErased.mock.calls.length > 0);
    expect(world.steps).toEqual([
      ...["lock", "delete from import_log", "samples emptied first", "found a,b", "unlock"],
      ...["lock", "samples emptied first", "sync", "clean a,b", "unlock"],
    ]);
  });

  test("leaves an owner alone whose imports are being settled", async () => {
    const world = fakes({ rows: { events: ["a"] }, elsewhere: ["owner"] });
    await runUntil(world, () => world.asked.mock.calls.length > 2);
    expect(world.steps).toEqual([]);
  });

  test("tells of a failure and tries again", async () => {
    const world = fakes({ rows: { events: [] }, failures: 2 });
    await runUntil(world, () => world.onErased.mock.calls.length > 0);
    expect(world.onFailure).toHaveBeenCalledTimes(2);
    expect(world.steps).toEqual(["lock", "sync", "clean a,b", "unlock"]);
  });

  test("looks once more when the power was cut before what it had found was on the disk", async () => {
    const world = fakes({ rows: { events: [] }, starts: [1_000] });
    await runUntil(world, () => world.onErased.mock.calls.length > 0);
    expect(world.onFailure).toHaveBeenCalledTimes(1);
    expect(world.steps).toEqual([...["lock", "sync"], ...["lock", "sync", "clean a,b", "unlock"]]);
  });
});

test("the logs of retracted imports are erased until nothing is left of them", async () => {
  const dependencies = fakes({ rows: { import_log: ["i"] }, elsewhere: ["owner"], retracted: ["i", "j"] });
  const { steps } = dependencies;
  await runUntil(dependencies, () => steps.includes("logs erased i,j"));
  expect(steps).toEqual(["delete from import_log", "sync", "logs erased i,j"]);
});

test("the logs of retracted imports are looked for once more when the power was cut before they were gone from the disk", async () => {
  const dependencies = fakes({ rows: {}, elsewhere: ["owner"], retracted: ["i"], starts: [1_000] });
  const { steps, onFailure } = dependencies;
  await runUntil(dependencies, () => steps.includes("logs erased i"));
  expect(onFailure).toHaveBeenCalledTimes(1);
  expect(steps).toEqual(["sync", "sync", "logs erased i"]);
});
