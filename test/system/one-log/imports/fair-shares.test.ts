import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPace } from "../../../../enrich/batches/pace-batches.js";
import { choosePartitions } from "../../../../ingest/import/choose-partitions.js";
import { CHUNK_LIMITS } from "../../../../ingest/import/receive-import.js";
import { openEmbeddedLog } from "../../../../deploy/stores/embedded/event-log/event-log.js";
import type { EventLog, Lane } from "../../../../schemas/records/event-log.js";
import { SMALL_IMPORT_CHUNKS } from "../../../../schemas/records/import-limits.js";

/** Both have the same partitions. */
const GREEDY = "01990000-0000-7000-8000-000000000010";
const MODEST = "01990000-0000-7000-8000-000000000020";
const IMPORTS_MAX = 15;
const CHUNKS = 40;

let dir: string;
let log: EventLog;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "fair-shares-"));
  log = await openEmbeddedLog({ dir, partitions: 8 });
});

afterAll(async () => {
  await log?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** Appends the chunks of an import as the API does; the first byte of each tells whose it is. */
async function appendImport(ownerId: string, { chunks, isLarge }: { chunks: number; isLarge: boolean }) {
  const partitionOf = choosePartitions(log.partitions, { ownerId, isLarge });
  const chunk = Buffer.alloc(CHUNK_LIMITS.bytesTarget, ownerId === MODEST ? "m" : "g");
  for (let sequence = 0; sequence < chunks; sequence++)
    await log.append([chunk], { partition: partitionOf(sequence) });
}

/** Consumes a lane as a worker does until it has a chunk of the modest owner; answers how many others came before. */
async function takenBefore(lane: Lane): Promise<number> {
  const pace = openPace(lane);
  const options = { group: "enrich", batchBytesMax: () => pace.bytesMax, share: { index: 0, of: 1 }, lane };
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
  // Only the first chunks of imports that were not known to be large; all of the bulk lane still waits.
  const notKnown = Math.floor(IMPORTS_MAX / 2);
  expect(await takenBefore("express")).toBe(notKnown * SMALL_IMPORT_CHUNKS);
});
