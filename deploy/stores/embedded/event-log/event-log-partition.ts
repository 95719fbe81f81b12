import { BatchLost, type LogBatch, type LogRecord } from "../../../../schemas/records/event-log.js";
import { countWithinBytes } from "../../count-within-bytes.js";
import type { LogStore } from "./event-log-store.js";
import { type Cursor, written } from "./event-log-tables.js";

/** One partition as one group reads it; only one may be open for both at a time. */
export interface PartitionReader {
  hasNext(appended: readonly number[]): boolean;
  /** The records after the last commit, or the recorded range of a crash. There must be some: see `hasNext`. */
  nextBatch(): LogBatch;
  /** How many records were appended after the last commit; 0 while a recorded range comes first. */
  waiting(appended: readonly number[]): number;
  isPast(batch: LogBatch): boolean;
}

interface PartitionOptions {
  group: string;
  partition: number;
  batchBytesMax: number | (() => number);
  sizeOf?: ((value: Uint8Array) => number) | undefined;
  memory: BatchMemory;
}

/** A group that comes for the first time begins with the oldest record kept; from then on none that it wants is deleted. */
export async function openPartition(store: LogStore, options: PartitionOptions): Promise<PartitionReader> {
  const { group, partition, batchBytesMax, sizeOf, memory } = options;
  store.refresh();
  let cursor = store.cursor(group, partition);

  /** One transaction. Refused when someone else has moved the cursor: their batches would be written twice. */
  async function moveCursor(value: Cursor): Promise<void> {
    const version = (cursor.version ?? 0) + 1;
    const key: [string, number, string] = [store.topic, partition, group];
    const moving = store.cursors.ifVersion(key, cursor.version as number, () => {
      void store.cursors.put(key, value, version);
    });
    if (!(await written(moving, store)))
      throw new BatchLost(`partition ${partition} of ${group} is also consumed by another process`);
    cursor = { value, version };
  }

  if (cursor.version === null) await moveCursor(cursor.value);

  function toBatch(records: LogRecord[], recordedNote: string | undefined): LogBatch {
    const first = cursor.value.next;
    const last = first + records.length - 1;
    return {
      partition,
      records,
      token: `${store.id}:${store.topic}:${partition}:${first}-${last}`,
      recordedNote,
      // One process at a time has the data directory.
      ownedForMs: Infinity,
      recordRange: (note) => moveCursor({ next: first, range: { last, note } }),
      commit: () => moveCursor({ next: last + 1 }),
    };
  }

  return {
    hasNext: (appended) => cursor.value.next < (appended[partition] ?? 0),
    nextBatch() {
      const { next: first, range } = cursor.value;
      const bytesMax = typeof batchBytesMax === "number" ? batchBytesMax : batchBytesMax();
      if (range) {
        const sizes = sizesWithin(store, { partition, first, end: range.last + 1, bytesMax: Infinity });
        return toBatch(readRecords(store, { partition, first, sizes, memory }), range.note);
      }
      const sizes = sizesWithin(store, { partition, first, end: Infinity, bytesMax });
      const records = readRecords(store, { partition, first, sizes, memory });
      const count = sizeOf ? countWithinBytes(records, { bytesMax, sizeOf }) : records.length;
      return toBatch(records.slice(0, count), undefined);
    },
    waiting(appended) {
      const { next: first, range } = cursor.value;
      return range === undefined ? (appended[partition] ?? 0) - first : 0;
    },
    isPast: ({ records }) => (records.at(-1)?.offset ?? Infinity) < cursor.value.next,
  };
}

interface Slice {
  partition: number;
  first: number;
}

/** Records by their sizes, which are known without reading them; the first one always fits. */
function sizesWithin(
  store: LogStore,
  { partition, first, end, bytesMax }: Slice & { end: number; bytesMax: number },
): number[] {
  const sizes: number[] = [];
  let bytes = 0;
  for (const { value } of store.facts.getRange({
    start: [store.topic, partition, first],
    end: [store.topic, partition, end],
  })) {
    bytes += value[0];
    if (sizes.length > 0 && bytes > bytesMax) break;
    sizes.push(value[0]);
  }
  return sizes;
}

/** Copies records out of LMDB's pages. */
function readRecords(
  store: LogStore,
  { partition, first, sizes, memory }: Slice & { sizes: readonly number[]; memory: BatchMemory },
): LogRecord[] {
  const bytes = memory.reserve(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  return sizes.map((size, index) => {
    const offset = first + index;
    const stored = store.records.getBinaryFast([store.topic, partition, offset]);
    if (!stored) throw new Error(`record ${offset} of partition ${partition} is missing from the event log`);
    const value = bytes.subarray(at, at + size);
    // The binding answers small records in a larger buffer of its own.
    value.set(new Uint8Array(stored.buffer, stored.byteOffset, size));
    at += size;
    return { offset, value };
  });
}

/** The memory of a consumer's records: one piece, used by one batch after the other instead of becoming garbage each time. */
export class BatchMemory {
  private bytes = new Uint8Array(0);

  /** At least that much; what it held before is overwritten. */
  reserve(size: number): Uint8Array {
    if (size > this.bytes.length) this.bytes = new Uint8Array(Math.max(size, 2 * this.bytes.length));
    return this.bytes;
  }

  release(): void {
    if (this.bytes.length > 0) this.bytes = new Uint8Array(0);
  }
}
