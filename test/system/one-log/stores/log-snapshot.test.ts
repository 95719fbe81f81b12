import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLogSnapshot } from "../../../../deploy/backup/log-snapshot.js";
import { openEmbeddedLog } from "../../../../deploy/stores/embedded/event-log/event-log.js";
import { openLogStore } from "../../../../deploy/stores/embedded/event-log/event-log-store.js";

let parent: string;
let dir: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "log-snapshot-"));
  dir = join(parent, "log");
});

afterEach(() => rmSync(parent, { recursive: true }));

const record = (length: number) => Buffer.alloc(length, length % 251);

test("has every record of its moment, positions and the log's id, and nothing that was appended later", async () => {
  await using log = await openEmbeddedLog({ dir, partitions: 2 });
  const lengths = [1, 7, 40, 5_000, 300_000];
  for (const length of lengths) await log.append([record(length)], { partition: 1 });
  const copied = join(parent, "copy");
  {
    await using snapshot = openLogSnapshot(dir);
    snapshot.pin();
    await log.append([record(9)], { partition: 1 });
    await snapshot.copyTo(copied);
  }
  const [original, copy] = await Promise.all(
    [dir, copied].map((path) => openLogStore({ dir: path, topic: "events.raw", partitions: 8 })),
  );
  expect(copy).toMatchObject({ id: original?.id, partitions: 2 });
  expect(copy?.nextOffsets().value).toEqual([0, lengths.length]);
  const values = [...(copy?.records.getRange({}) ?? [])].map(({ value }) => Buffer.from(value));
  expect(values).toEqual(lengths.map(record));
  // Its positions are versioned as before: the next append goes on.
  expect(copy?.nextOffsets().version).toBe((original?.nextOffsets().version ?? 0) - 1);
  await Promise.all([original?.root.close(), copy?.root.close()]);
});
