import { factsOf } from "./event-log-retention.js";
import type { LogStore } from "./event-log-store.js";

/** Bounds a look at one partition, for what was appended before this log was opened. */
const READ_MAX = 5_000;

/** Unconsumed records of a partition that were appended for an owner, as far as it was read. */
interface Read {
  partition: number;
  through: number;
  records: { offset: number; ownerId: string; bytes: number }[];
}

/**
 * Answers the unconsumed bytes of an owner. The log itself is what is counted, so other threads, other processes
 * and those that were killed are as well. A backlog of millions is known after some calls.
 */
export function trackUnconsumed(store: LogStore): (ownerId: string) => number {
  const read = Array.from({ length: store.partitions }, (_, partition): Read => ({
    partition,
    through: 0,
    records: [],
  }));
  const bytesOf = new Map<string, number>();

  function add(ownerId: string, bytes: number): void {
    const sum = (bytesOf.get(ownerId) ?? 0) + bytes;
    if (sum === 0) bytesOf.delete(ownerId);
    else bytesOf.set(ownerId, sum);
  }

  function readOn(part: Read): void {
    const { partition, records } = part;
    const consumed = store.consumedBelow(partition);
    const kept = records.findIndex(({ offset }) => offset >= consumed);
    for (const { ownerId, bytes } of records.splice(0, kept < 0 ? records.length : kept))
      add(ownerId, -bytes);
    const from = Math.max(part.through, consumed);
    for (const { key, value } of factsOf(store, partition, { from, to: Infinity, limit: READ_MAX })) {
      const [, , offset] = key;
      const [bytes, , ownerId] = value;
      part.through = offset + 1;
      if (ownerId === undefined) continue;
      records.push({ offset, ownerId, bytes });
      add(ownerId, bytes);
    }
  }

  return (ownerId) => {
    store.refresh();
    read.forEach(readOn);
    return bytesOf.get(ownerId) ?? 0;
  };
}
