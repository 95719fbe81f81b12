import { expect, test } from "vitest";
import { openPoisonDetection } from "../../../../enrich/batches/poison-detection.js";
import { newNote } from "../../../../enrich/batches/range-note.js";
import { MUTEX_BYTES, sharedThreadMutex } from "../../../../enrich/batches/thread-mutex.js";
import { BatchLost } from "../../../../schemas/records/event-log.js";

/** Two workers of one process, of which the first has a range under detection that it loses after `saves` notes. */
function losingWorker({ saves }: { saves: number }) {
  const memory = new SharedArrayBuffer(MUTEX_BYTES);
  const stopping = new AbortController().signal;
  let left = saves;
  const detection = openPoisonDetection({
    note: { ...newNote([]), attempts: 3 },
    save: async () => {
      if (left-- === 0) throw new BatchLost("the group has moved on");
    },
    mutex: sharedThreadMutex(memory, 0),
    stopping,
  });
  return { detection, other: sharedThreadMutex(memory, 1), stopping };
}

test("a worker whose range is lost as it notes a record lets the others go on", async () => {
  const { detection, other, stopping } = losingWorker({ saves: 0 });
  await expect(detection.begin(0)).rejects.toThrow(BatchLost);
  await other.lock(stopping);
});

test("a worker whose range is lost after a record lets the others go on", async () => {
  const { detection, other, stopping } = losingWorker({ saves: 1 });
  await detection.begin(0);
  await expect(detection.end()).rejects.toThrow(BatchLost);
  await other.lock(stopping);
});
