import type { ClickHouseClient } from "@clickhouse/client";
import { expect, test, vi } from "vitest";
import { eraseClient } from "../../../../aggregate/erasures/erase-client.js";
import {
  type ClientEraserDependencies,
  startClientEraser,
} from "../../../../aggregate/erasures/start-client-eraser.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";
import type { OpenErasure } from "../../../../schemas/contracts/erasure.js";
import type { OwnerSettlement } from "../../../../schemas/records/settlement.js";

const ERASURE = {
  id: "01990000-0000-7000-8000-0000000000ee",
  kind: "endpoint_id",
  clientId: "00".repeat(16),
  stamp: 1_700_000_000_000,
  imports: [],
  liveStamp: 1_700_000_000_000,
  logEnds: null,
  waitingFor: null,
} as unknown as OpenErasure;
const ARTIFACT = "01990000-0000-7000-8000-0000000000aa";

/** A server that has one row of whatever is counted, also `found`, and a power that `cut` takes away once. */
function fakes({ found = () => false }: { found?: (query: string) => boolean } = {}) {
  const steps: string[] = [];
  let startedAt = 1_000;
  const client = {
    command: async ({ query }: { query: string }) => {
      const [done = query] = /INSERT INTO \w+|ALTER TABLE \w+ DELETE|SYSTEM SYNC/.exec(query) ?? [];
      steps.push(done);
    },
    query: async ({ query }: { query: string }) => ({
      json: async () =>
        / AS rows\b/.test(query) && !query.startsWith("SELECT 1 FROM (")
          ? [{ rows: "1" }]
          : found(query)
            ? [{}]
            : [],
    }),
  } as unknown as ClickHouseClient;
  const cut = () => (startedAt = 90_000);
  return { steps, shards: oneServer(client, async () => startedAt), cut };
}

const OWNER = {
  stagedBatches: async () => [],
  whileInserting: (work: () => Promise<unknown>) => work(),
  whileRecounting: (work: (from: undefined) => Promise<unknown>) => work(undefined),
  whileNumbering: (work: () => Promise<unknown>) => work(),
  putStagedBatch: async () => undefined,
  closeBatch: async () => undefined,
} as unknown as OwnerSettlement;

test("rows of a client are deleted only once what is noted of them survives a power cut", async () => {
  const { steps, shards, cut } = fakes();
  const erase = (whileNumbering: () => Promise<void>) => {
    const owner = { ...OWNER, whileNumbering } as OwnerSettlement;
    return eraseClient(shards, ERASURE, { artifacts: [ARTIFACT], owner });
  };
  await expect(erase(async () => void cut())).rejects.toThrow("ClickHouse restarted");
  expect(steps).not.toContain("ALTER TABLE events DELETE");
  expect(await erase(async () => undefined)).toBe("deleting");
  expect(steps.slice(-2)).toEqual(["SYSTEM SYNC", "ALTER TABLE events DELETE"]);
});

/** Runs the eraser on one erasure until something is put down of it. Answers what it did. */
async function runRound(
  erasure: OpenErasure,
  {
    found,
    artifacts = [ARTIFACT],
    importEnds,
    putLogEnds = async () => undefined,
  }: {
    found: (query: string) => boolean;
    artifacts?: string[];
    importEnds?: number[] | undefined;
    putLogEnds?: ClientEraserDependencies["store"]["putLogEnds"];
  },
): Promise<string[]> {
  const { steps, shards } = fakes({ found });
  let isPut = false;
  const put = (what: string) => async () => {
    steps.push(what);
    isPut = true;
  };
  const store = {
    dueOwners: async () => (isPut ? [] : ["owner"]),
    dueErasures: async () => [erasure],
    artifactsOf: async () => artifacts,
    importsWithRefusedLines: async () => [],
    removedBefore: async () => undefined,
    liveToCome: async () => undefined,
    importsToCome: async () => undefined,
    importEnds: async () => importEnds,
    async putLogEnds(id: string, ends: number[]) {
      await putLogEnds(id, ends);
      isPut = true;
    },
    asOnlySettlement: async (_: string, work: (owner: OwnerSettlement) => Promise<void>) => {
      await work(OWNER);
      return true;
    },
    // The ends are put down after it.
    putWaiting: async () => void steps.push("waiting"),
    putFound: put("found"),
    putFinished: put("finished"),
  } as unknown as ClientEraserDependencies["store"];
  const log = { ends: async () => Array<number>(8).fill(9), isEnriched: async () => true };
  const onFailure = vi.fn();
  const rest = { isOfClient: () => false, onFailure, everyMs: 1 };
  await using _eraser = startClientEraser({ shards, store, log, ...rest });
  await vi.waitUntil(() => isPut);
  expect(onFailure).not.toHaveBeenCalled();
  return steps;
}

const isUnfinished = (query: string) => query.includes("HAVING sum(sign) != 0");

test("waits for batches that are not in all tables yet, and deletes nothing of them", async () => {
  const steps = await runRound({ ...ERASURE, liveStamp: null }, { found: isUnfinished });
  expect(steps).toContain("waiting");
  expect(steps).not.toContain("ALTER TABLE events DELETE");
});

test("waits for the queue of live events, and then for the lines of imports that it is about", async () => {
  const ends: unknown[] = [];
  const round = (erasure: Partial<OpenErasure>, importEnds: number[] | undefined) =>
    runRound(
      { ...ERASURE, waitingFor: "event-log", ...erasure },
      { found: () => false, importEnds, putLogEnds: async (_, put) => void ends.push(put) },
    );
  await round({ liveStamp: null }, undefined);
  await round({}, [0, 0, 0, 5]);
  // Where those of one are not known, for everything.
  await round({}, undefined);
  expect(ends).toEqual([
    [9, 9, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 5],
    [9, 9, 9, 9, 9, 9, 9, 9],
  ]);
});

test("recounts what nobody completes once every batch is written", async () => {
  const steps = await runRound(ERASURE, { found: isUnfinished });
  expect(steps).toEqual(expect.arrayContaining(["INSERT INTO event_ids", "found"]));
  expect(steps).not.toContain("ALTER TABLE events DELETE");
});

test("recounts instead of finishing where a table disagrees with the events", async () => {
  const differs = (query: string) => query.startsWith("SELECT 1 FROM (");
  const steps = await runRound(ERASURE, { found: differs, artifacts: [] });
  expect(steps).toEqual(expect.arrayContaining(["INSERT INTO event_ids", "found"]));
  expect(steps).not.toContain("finished");
});

test("an erasure is not finished while a power cut may bring back what it erased", async () => {
  const { steps, shards, cut } = fakes();
  let isFinished = false;
  const store = {
    dueOwners: async () => (isFinished ? [] : ["owner"]),
    dueErasures: async () => [ERASURE],
    artifactsOf: async () => [],
    removedBefore: async () => undefined,
    importsWithRefusedLines: async () => {
      cut();
      return [];
    },
    asOnlySettlement: async (_: string, work: (owner: OwnerSettlement) => Promise<void>) => {
      await work({} as OwnerSettlement);
      return true;
    },
    putFinished: async () => {
      steps.push("finished");
      isFinished = true;
    },
  } as unknown as ClientEraserDependencies["store"];
  const onFailure = vi.fn();
  const log = { ends: async () => [], isEnriched: async () => true };
  await using _eraser = startClientEraser({
    shards,
    store,
    log,
    isOfClient: () => false,
    onFailure,
    everyMs: 1,
  });
  await vi.waitUntil(() => isFinished);
  expect(onFailure).toHaveBeenCalledTimes(1);
  expect(steps).toEqual(["SYSTEM SYNC", "SYSTEM SYNC", "finished"]);
});
