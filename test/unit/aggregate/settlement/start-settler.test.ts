import type { ClickHouseClient } from "@clickhouse/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type SettlerDependencies, startSettler } from "../../../../aggregate/settlement/start-settler.js";
import { WakeUp } from "../../../../schemas/async/wake-up.js";
import type { DueImport, OwnerSettlement } from "../../../../schemas/records/settlement.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";

const due = (id: string, over: Partial<DueImport> = {}): DueImport => ({
  id,
  ownerId: "owner",
  complete: true,
  retracted: false,
  followed: false,
  ...over,
});

interface Fakes {
  /** Owners that are due, round by round; the last answer stays. */
  rounds: DueImport[][];
  staged?: string[];
  failures?: number;
  elsewhere?: string[];
  /** Imports that someone retracts while they are being settled. */
  retractedMeanwhile?: string[];
}

/** A store and a ClickHouse that write down what settlement does. Every import has one slice to settle, once. */
function fakes({ rounds, staged = [], failures = 0, elsewhere = [], retractedMeanwhile = [] }: Fakes) {
  const steps: string[] = [];
  const settled = new Set<string>();
  const working = new Set<string>();
  const answers = [...rounds];
  let failuresLeft = failures;
  const owner: OwnerSettlement = {
    stagedBatches: async () => staged.splice(0),
    putStagedBatch: async () => undefined,
    closeBatch: async (batch) => void steps.push(`close ${batch}`),
    whileInserting: (work) => work(),
    whileRecounting: (work) => work(undefined),
    whileNumbering: (work) => work(),
    unsettledChunks: async (ids) =>
      ids
        .filter((importId) => !settled.has(importId))
        .map((importId) => ({ importId, sequence: 0, reports: 1, stamp: 1, events: 1 })),
    markSettled: async (imports) => {
      const marked = imports.map(({ id }) => id).filter((id) => !retractedMeanwhile.includes(id));
      for (const id of marked) settled.add(id);
      steps.push(...marked.map((id) => `settled ${id}`));
      return marked;
    },
    finishComplete: async (ids) => {
      steps.push(...ids.map((id) => `finish ${id}`));
      return ids.map((id) => ({ id, owner: "acme", eventsImported: 3, eventsFailed: 1, seconds: 2 }));
    },
  };
  const dueImports = vi.fn(async () => (answers.length > 1 ? answers.shift() : answers[0]) ?? []);
  const store: SettlerDependencies["store"] = {
    dueImports,
    abortAbandonedUploads: async () => 0,
    asOnlySettlement: async (ownerId, work) => {
      if (failuresLeft-- > 0) throw new Error("connection refused");
      if (elsewhere.includes(ownerId)) return false;
      working.add(ownerId);
      await work(owner);
      working.delete(ownerId);
      return true;
    },
  };
  const shards = oneServer({
    command: async ({
      query,
      query_params: params = {},
    }: {
      query: string;
      query_params?: Record<string, string> & { importIds?: string[] };
    }) => {
      const recounted = query.includes("INSERT INTO event_ids") ? [`recount ${params.batch ?? ""}`] : [];
      const retracted = (params.importIds ?? []).map((id) => `retract ${id}`);
      steps.push(...recounted, ...retracted);
    },
    query: async ({ query }: { query: string }) => ({
      json: async () => (query.startsWith("SELECT count()") ? [{ rows: "0" }] : []),
    }),
  } as unknown as ClickHouseClient);
  return { store, shards, steps, working, dueImports, onFailure: vi.fn() };
}

/** Runs a settler until it has asked `rounds` times what is due and settles for nobody, and ends it. */
async function run(dependencies: ReturnType<typeof fakes>, rounds: number) {
  const settler = startSettler(dependencies);
  await vi.waitFor(() => {
    expect(dependencies.dueImports.mock.calls.length).toBeGreaterThanOrEqual(rounds);
    expect(dependencies.working).toEqual(new Set());
  }, 5_000);
  await settler[Symbol.asyncDispose]();
}

/** Does not end a pause by time. */
class NoClock extends WakeUp {
  override pause(_: number, options: { signal: AbortSignal }): Promise<void> {
    return super.pause(3_600_000, options);
  }
}

afterEach(() => void vi.useRealTimers());

describe("startSettler", () => {
  test.each<[string, Fakes, string[]]>([
    [
      "recounts what an earlier settlement left before it settles anew",
      { rounds: [[due("a")], []], staged: ["b1", "b2"] },
      ["recount b1", "close b1", "recount b2", "close b2", "settled a", "finish a"],
    ],
    [
      "marks a retracted import as such before it settles it",
      { rounds: [[due("a", { retracted: true })], []] },
      ["retract a", "settled a", "finish a"],
    ],
    [
      "settles all complete imports of an owner together",
      { rounds: [[due("a"), due("b", { retracted: true }), due("c")], []] },
      ["settled a", "settled c", "finish a", "finish c", "retract b", "settled b", "finish b"],
    ],
    [
      "settles an import together with small ones that are about to be written",
      { rounds: [[due("one", { followed: true })], [due("one"), due("two")], []] },
      ["settled one", "settled two", "finish one", "finish two"],
    ],
    [
      "leaves an import that was retracted meanwhile to the next round, and goes on",
      { rounds: [[due("a"), due("b")], []], retractedMeanwhile: ["a"] },
      ["settled b", "finish b"],
    ],
    [
      "leaves an owner alone whom another process settles, and settles the others",
      { rounds: [[due("a"), due("b", { ownerId: "other" })], []], elsewhere: ["owner"] },
      ["settled b", "finish b"],
    ],
  ])("%s", async (_, given, steps) => {
    const all = fakes(given);
    await run(all, given.rounds.length);
    expect(all.steps).toEqual(steps);
  });

  test("lets an import whose chunks still come in wait, and a complete one not", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const incoming = due("incoming", { complete: false });
    const all = fakes({
      rounds: [[incoming], [incoming], [incoming, due("complete")], [incoming, due("complete")], []],
    });
    await run(all, 5);
    expect(all.steps).toEqual(["settled complete", "finish complete", "finish complete"]);
  });

  test("settles an import whose chunks still come in once half a minute has passed, though the clock was set back", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const all = fakes({ rounds: [[due("incoming", { complete: false })]] });
    const settler = startSettler(all);
    await vi.waitFor(() => expect(all.dueImports.mock.calls.length).toBeGreaterThan(1));
    expect(all.steps).toEqual([]);
    vi.setSystemTime(0);
    vi.advanceTimersByTime(30_000);
    await vi.waitFor(() => expect(all.steps).toEqual(["settled incoming", "finish incoming"]));
    await settler[Symbol.asyncDispose]();
  });

  test("settles an import that became complete without waiting", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const all = fakes({ rounds: [[due("a", { complete: false })], [due("a")], []] });
    await run(all, 3);
    expect(all.steps).toEqual(["settled a", "finish a"]);
  });

  test("settles at once when it is woken", async () => {
    const wakeUp = new NoClock();
    const all = fakes({ rounds: [[], [due("a")], []] });
    const settler = startSettler({ ...all, wakeUp });
    await vi.waitFor(() => expect(all.dueImports).toHaveBeenCalledOnce());
    wakeUp.ring();
    await vi.waitFor(() => expect(all.steps).toEqual(["settled a", "finish a"]));
    await settler[Symbol.asyncDispose]();
  });

  test("looks again at once after imports have ended, and not before", async () => {
    const incoming = due("incoming", { retracted: true, complete: false });
    const all = fakes({ rounds: [[due("a")], [due("b")], []], elsewhere: ["other"] });
    all.dueImports.mockImplementationOnce(async () => [incoming, due("a"), due("c", { ownerId: "other" })]);
    const settler = startSettler({ ...all, wakeUp: new NoClock() });
    await vi.waitFor(() => expect(all.steps).toContain("finish b"));
    await vi.waitFor(() => expect(all.dueImports).toHaveBeenCalledTimes(4));
    await new Promise((resolve) => setImmediate(resolve));
    expect(all.dueImports).toHaveBeenCalledTimes(4);
    await settler[Symbol.asyncDispose]();
  });

  test("tells of a failure and tries again", async () => {
    const all = fakes({ rounds: Array.from({ length: 50 }, () => [due("a")]), failures: 1 });
    const settler = startSettler(all);
    await vi.waitFor(() => expect(all.steps).toContain("finish a"), 10_000);
    await settler[Symbol.asyncDispose]();
    expect(all.onFailure).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: "connection refused" }),
    );
  });

  test("tells of a store that is down and asks again", async () => {
    const all = fakes({ rounds: [[due("a")], []] });
    all.dueImports.mockRejectedValueOnce(new Error("connection refused"));
    await run(all, 3);
    expect(all.onFailure).toHaveBeenCalledOnce();
    expect(all.steps).toEqual(["settled a", "finish a"]);
  });

  test("finishes what it is at before it ends", async () => {
    const all = fakes({ rounds: [[due("a")]] });
    const settler = startSettler(all);
    await vi.waitFor(() => expect(all.dueImports).toHaveBeenCalled());
    await settler[Symbol.asyncDispose]();
    const { length } = all.steps;
    await new Promise((resolve) => setImmediate(resolve));
    expect(all.steps).toHaveLength(length);
  });
});
