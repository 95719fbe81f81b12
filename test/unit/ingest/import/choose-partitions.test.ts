import { describe, expect, test } from "vitest";
import { openPace } from "../../../../enrich/batches/pace-batches.js";
import { CHUNK_LIMITS } from "../../../../ingest/import/receive-import.js";
import { choosePartitions } from "../../../../ingest/import/choose-partitions.js";
import { partitionsOf } from "../../../../schemas/records/event-log.js";

const OWNER = "01990000-0000-7000-8000-00000000000b";
const chosen = (partitions: number, { isLarge = false, chunks = 600 } = {}) => {
  const partitionOf = choosePartitions(partitions, { ownerId: OWNER, isLarge });
  return Array.from({ length: chunks }, (_, sequence) => partitionOf(sequence));
};

describe("the partition of a chunk", () => {
  test("is on the express queue for the first MiB of an import, and on the bulk queue for the rest", () => {
    const [first, second, ...rest] = chosen(8);
    expect(partitionsOf("express", 8)).toContain(first);
    expect(second).toBe(first);
    expect(partitionsOf("bulk", 8)).toEqual(expect.arrayContaining(rest));
  });

  test("is on the bulk queue for all of an import that is known to be large", () => {
    expect(partitionsOf("bulk", 8)).toEqual(expect.arrayContaining(chosen(8, { isLarge: true })));
  });

  test.each([2, 3, 8, 24])(
    "takes half of the bulk queue of %i partitions in turn, rounded up",
    (partitions) => {
      const bulk = partitionsOf("bulk", partitions);
      const used = new Set(chosen(partitions).slice(2));
      expect(used.size).toBe(Math.ceil(bulk.length / 2));
    },
  );

  test("is always the only one where there is one", () => {
    expect(new Set(chosen(1))).toEqual(new Set([0]));
  });

  test("changes after as many chunks as fit one large insert", () => {
    const rest = chosen(8).slice(2);
    const inARow = rest.findIndex((partition) => partition !== rest[0]);
    const chunksInBatch = openPace("bulk").bytesMax / CHUNK_LIMITS.bytesTarget;
    // Beside its lines, a record of the log has a head.
    expect(inARow).toBeLessThan(chunksInBatch);
    expect(inARow).toBeGreaterThanOrEqual(chunksInBatch - 1);
  });

  test("is spread over owners that were created in the same minute", () => {
    const owners = Array.from({ length: 8 }, (_, n) => `01990000-0000-7000-8000-00000000000${n}`);
    const partitionOf = (ownerId: string, sequence: number) =>
      choosePartitions(8, { ownerId, isLarge: false })(sequence);
    const usedBy = (sequence: number) => new Set(owners.map((owner) => partitionOf(owner, sequence)));
    expect(usedBy(0).size).toBe(partitionsOf("express", 8).length);
    expect(usedBy(2).size).toBe(partitionsOf("bulk", 8).length);
  });
});
