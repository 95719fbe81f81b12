import { setImmediate as nextTurn } from "node:timers/promises";
import { factsOf } from "./event-log-retention.js";
import type { LogStore } from "./event-log-store.js";

/** Read in one turn, in a few milliseconds: other requests are answered in between. */
const READ_MAX = 1_000;
/** Neighbouring records of an owner count as one up to so much. While it is consumed, its bytes are those on average. */
const SPAN_BYTES_MAX = 4 * 2 ** 20;

/** Unconsumed records of a partition that were appended for an owner. */
interface Read {
  partition: number;
  through: number;
  spans: Span[];
}

interface Span {
  from: number;
  /** Exclusive. */
  to: number;
  ownerId: string;
  bytes: number;
}

/**
 * Answers the unconsumed bytes of an owner. The log itself is what is counted, so other threads, other processes
 * and those that were killed are as well. Callers share one reading; the first after the start reads all that waits.
 */
export function trackUnconsumed(store: LogStore): (ownerId: string) => Promise<number> {
  const parts = Array.from({ length: store.partitions }, (_, partition): Read => ({
    partition,
    through: 0,
    spans: [],
  }));
  const bytesOf = new Map<string, number>();
  let reading: Promise<void> | undefined;

  function add(ownerId: string, bytes: number): void {
    const sum = (bytesOf.get(ownerId) ?? 0) + bytes;
    if (sum === 0) bytesOf.delete(ownerId);
    else bytesOf.set(ownerId, sum);
  }

  function forget({ spans }: Read, consumed: number): void {
    let ended = 0;
    for (const span of spans) {
      if (span.from >= consumed) break;
      const isEnded = span.to <= consumed;
      const { from, to, ownerId, bytes } = span;
      const gone = isEnded ? bytes : Math.round((bytes * (consumed - from)) / (to - from));
      add(ownerId, -gone);
      Object.assign(span, { from: consumed, bytes: bytes - gone });
      if (isEnded) ended += 1;
    }
    spans.splice(0, ended);
  }

  /** Whether there may be more. */
  function readOn(part: Read): boolean {
    const { partition, spans } = part;
    const consumed = store.consumedBelow(partition);
    forget(part, consumed);
    const from = Math.max(part.through, consumed);
    let read = 0;
    for (const { key, value } of factsOf(store, partition, { from, to: Infinity, limit: READ_MAX })) {
      const [, , offset] = key;
      const [bytes, , ownerId] = value;
      read += 1;
      part.through = offset + 1;
      if (ownerId === undefined) continue;
      add(ownerId, bytes);
      const last = spans.at(-1);
      if (last?.ownerId === ownerId && last.bytes + bytes <= SPAN_BYTES_MAX)
        Object.assign(last, { to: offset + 1, bytes: last.bytes + bytes });
      else spans.push({ from: offset, to: offset + 1, ownerId, bytes });
    }
    return read === READ_MAX;
  }

  async function readAll(): Promise<void> {
    for (const part of parts) {
      store.refresh();
      while (readOn(part)) {
        await nextTurn();
        store.refresh();
      }
    }
  }

  return async (ownerId) => {
    await (reading ??= readAll().finally(() => (reading = undefined)));
    return bytesOf.get(ownerId) ?? 0;
  };
}
