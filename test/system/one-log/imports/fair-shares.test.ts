import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CheckLines } from "../../../../api/features/imports/dry-run.js";
import { importRoutes } from "../../../../api/features/imports/import-routes.js";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { openEmbeddedLog } from "../../../../deploy/stores/embedded/event-log/event-log.js";
import { openPace } from "../../../../enrich/batches/pace-batches.js";
import { emptyTally } from "../../../../enrich/lines/tally-lines.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import { choosePartitions } from "../../../../ingest/import/choose-partitions.js";
import { CHUNK_LIMITS } from "../../../../ingest/import/receive-import.js";
import type { EventLog, Queue } from "../../../../schemas/records/event-log.js";
import { SMALL_IMPORT_CHUNKS } from "../../../../schemas/records/import-line.js";
import { api, useOneWorld, world } from "../../../support/api/use-world.js";
import { openSocket } from "../../../support/imports/open-upload.js";
import { UNUSED_LOG } from "../../../support/stores/unused-log.js";
import { useFolder } from "../../../support/use-folder.js";

describe("fair shares", () => {
  /** Both have the same partitions. */
  const GREEDY = "01990000-0000-7000-8000-000000000010";
  const MODEST = "01990000-0000-7000-8000-000000000020";
  const IMPORTS_MAX = 15;
  const CHUNKS = 40;

  const dir = useFolder("fair-shares");
  let log: EventLog;

  beforeAll(async () => void (log = await openEmbeddedLog({ dir, partitions: 8 })));
  afterAll(() => log?.[Symbol.asyncDispose]());

  /** Appends the chunks of an import as the API does; the first byte of each tells whose it is. */
  async function appendImport(ownerId: string, { chunks, isLarge }: { chunks: number; isLarge: boolean }) {
    const partitionOf = choosePartitions(log.partitions, { ownerId, isLarge });
    const chunk = Buffer.alloc(CHUNK_LIMITS.bytesTarget, ownerId === MODEST ? "m" : "g");
    for (let sequence = 0; sequence < chunks; sequence++)
      await log.append([chunk], { partition: partitionOf(sequence) });
  }

  /** Consumes a queue as a worker does until it has a chunk of the modest owner; answers how many others came before. */
  async function takenBefore(queue: Queue): Promise<number> {
    const pace = openPace(queue);
    const options = {
      group: "enrich",
      batchBytesMax: () => pace.bytesMax,
      share: { index: 0, of: 1 },
      queue,
    };
    let others = 0;
    let found = (): void => undefined;
    const isFound = new Promise<void>((resolve) => (found = resolve));
    const consumer = await log.consume(options, async (batch) => {
      const first = batch.records.findIndex(({ value }) => value[0] === "m".charCodeAt(0));
      others += first === -1 ? batch.records.length : first;
      await batch.commit();
      if (first !== -1) found();
    });
    await isFound;
    await consumer[Symbol.asyncDispose]();
    return others;
  }

  test("a small import is enriched before nearly all of what a greedy owner sent ahead of it", async () => {
    for (let sent = 0; sent < IMPORTS_MAX; sent++)
      await appendImport(GREEDY, { chunks: CHUNKS, isLarge: sent % 2 === 0 });
    await appendImport(MODEST, { chunks: 1, isLarge: false });
    // Only the first chunks of imports that were not known to be large; all of the bulk queue still waits.
    const notKnown = Math.floor(IMPORTS_MAX / 2);
    expect(await takenBefore("express")).toBe(notKnown * SMALL_IMPORT_CHUNKS);
  });
});

describe("dry runs", () => {
  const LINE = '{"$time":"2025-03-10T12:00:00Z"}\n';
  /** As many as an owner may have. */
  const DRY_RUNS = 15;

  /** Of the checks that were begun. The first ones never end. */
  const signals: AbortSignal[] = [];

  const checkLines: CheckLines = (_, signal) =>
    signals.push(signal) > DRY_RUNS
      ? Promise.resolve({ ...emptyTally(), events: [] })
      : new Promise(() => undefined);

  useOneWorld(({ pg }) => ({
    routes: importRoutes({ pg, eventLog: UNUSED_LOG, active: new ActiveUploads(), checkLines }),
  }));

  test("callers who leave during their dry runs leave room for others at once", async () => {
    const path = `/v2/${world.organization}/import?dryRun=true`;
    const as = { url: api.url, token: world.tokens.admin } as ApiClient;
    const headers = [`Content-Length: ${LINE.length}`];
    const callers = await Promise.all(
      Array.from({ length: DRY_RUNS }, () => openSocket(as, { path, headers })),
    );
    for (const caller of callers) await caller.send(LINE);
    const sent = { method: "POST", headers: { Authorization: `Bearer ${as.token}` }, body: LINE };
    const dryRun = async () => (await fetch(`${api.url}${path}`, sent)).status;
    await expect.poll(() => signals.length).toBe(DRY_RUNS);
    expect(await dryRun()).toBe(422);
    for (const caller of callers) caller.breakOff();
    await expect.poll(dryRun).toBe(200);
    expect(signals.slice(0, DRY_RUNS).map(({ aborted }) => aborted)).not.toContain(false);
  });
});
