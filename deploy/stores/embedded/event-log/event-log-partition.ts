import { BatchLost, type LogBatch, type LogRecord } from "../../../../schemas/records/event-log.js";
import { countWithinBytes } from "../../count-within-bytes.js";
import type { LogStore } from "./event-log-store.js";
import type { Cursor } from "./event-log-tables.js";
import { written } from "./event-log-written.js";

/** One partition as one group reads it; only one may be open for both at a time. */
export interface PartitionReader {
  /** The records after the last commit, or the recorded range of a crash; undefined when none was appended. */
  nextBatch(appended: readonly number[]): LogBatch | undefined;
  isPast(batch: LogBatch): boolean;
}

export interface PartitionOptions {
  group: string;
  partition: number;
  batchBytesMax: number | (() => number);
  sizeOf?: ((value: Uint8Array) => number) | undefined;
}

/** A group that comes for the first time begins with the oldest record kept; from then on none that it wants is deleted. */
export async function openPartition(store: LogStore, options: PartitionOptions): Promise<PartitionReader> {
  const { group, partition, batchBytesMax, sizeOf } = options;
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
      throw new BatchLost(`partition ${partition} of ${group} is consumed by someone else as well`);
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
      recordRange: (note) => moveCursor({ next: first, range: { last, note } }),
      commit: () => moveCursor({ next: last + 1 }),
    };
  }

  return {
    nextBatch(appended) {
      const { next: first, range } = cursor.value;
      if (first >= (appended[partition] ?? 0)) return undefined;
      const bytesMax = typeof batchBytesMax === "number" ? batchBytesMax : batchBytesMax();
      if (range) return toBatch(readRecords(store, { partition, first, end: range.last + 1 }), range.note);
      const records = readRecords(store, {
        partition,
        first,
        end: endOfBatch(store, { partition, first, bytesMax }),
      });
      const count = sizeOf ? countWithinBytes(records, { bytesMax, sizeOf }) : records.length;
      return toBatch(records.slice(0, count), undefined);
    },
    isPast: ({ records }) => (records.at(-1)?.offset ?? Infinity) < cursor.value.next,
  };
}

interface Slice {
  partition: number;
  first: number;
}

/** The offset after the last record that still fits; the first one always does. */
function endOfBatch(store: LogStore, { partition, first, bytesMax }: Slice & { bytesMax: number }): number {
  let bytes = 0;
  let end = first;
  for (const { value } of store.facts.getRange({
    start: [store.topic, partition, first],
    end: [store.topic, partition, Infinity],
  })) {
    bytes += value[0];
    if (end > first && bytes > bytesMax) break;
    end++;
  }
  return end;
}

function readRecords(store: LogStore, { partition, first, end }: Slice & { end: number }): LogRecord[] {
  const records: LogRecord[] = [];
  for (let offset = first; offset < end; offset++) {
    const stored = store.records.getBinary([store.topic, partition, offset]);
    if (!stored) throw new Error(`record ${offset} of partition ${partition} is missing from the event log`);
    // getBinary has copied the bytes out of LMDB's pages; only the binding's own fields on the Buffer are shed.
    records.push({ offset, value: Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength) });
  }
  return records;
}
