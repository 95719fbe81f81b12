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
  waitingFor: null,
} as unknown as OpenErasure;
const ARTIFACT = "01990000-0000-7000-8000-0000000000aa";

/** A server that has one row of whatever is counted, and a power that `cut` takes away once. */
function fakes() {
  const steps: string[] = [];
  let startedAt = 1_000;
  const client = {
    command: async ({ query }: { query: string }) => {
      const [done = query] = /INSERT INTO \w+|ALTER TABLE \w+ DELETE|SYSTEM SYNC/.exec(query) ?? [];
      steps.push(done);
    },
    query: async ({ query }: { query: string }) => ({
      json: async () => (/ AS rows\b/.test(query) ? [{ rows: "1" }] : []),
    }),
  } as unknown as ClickHouseClient;
  const cut = () => (startedAt = 90_000);
  return { steps, shards: oneServer(client, async () => startedAt), cut };
}

test("rows of a client are deleted only once what is noted of them survives a power cut", async () => {
  const { steps, shards, cut } = fakes();
  const owner = (whileNumbering: () => Promise<void>) =>
    ({
      stagedBatches: async () => [],
      whileInserting: (work: () => Promise<unknown>) => work(),
      putStagedBatch: async () => undefined,
      closeBatch: async () => undefined,
      whileNumbering,
    }) as unknown as OwnerSettlement;
  const erase = (whileNumbering: () => Promise<void>) =>
    eraseClient(shards, ERASURE, { artifacts: [ARTIFACT], owner: owner(whileNumbering) });
  await expect(erase(async () => void cut())).rejects.toThrow("started again");
  expect(steps).not.toContain("ALTER TABLE events DELETE");
  expect(await erase(async () => undefined)).toBe(true);
  expect(steps.slice(-2)).toEqual(["SYSTEM SYNC", "ALTER TABLE events DELETE"]);
});

test("an erasure is not finished while a power cut may bring back what it erased", async () => {
  const { steps, shards, cut } = fakes();
  let isFinished = false;
  const store = {
    dueOwners: async () => (isFinished ? [] : ["owner"]),
    dueErasures: async () => [ERASURE],
    artifactsOf: async () => [],
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
