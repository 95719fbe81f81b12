import type { AppendTo } from "../../../../schemas/records/event-log.js";
import type { LogStore } from "./event-log-store.js";
import { written } from "./event-log-tables.js";

export interface Appender {
  append(records: readonly Uint8Array[], to: AppendTo): Promise<number>;
  settled(): Promise<void>;
}

interface Waiting extends AppendTo {
  records: readonly Uint8Array[];
  resolve: (end: number) => void;
  reject: (error: Error) => void;
}

/** One commit takes no more than this beside its first append, so that nobody waits for a very long flush. */
const COMMIT_BYTES_MAX = 16 * 2 ** 20;

/**
 * Whatever arrives while one group is flushed shares the next flush. A group is one transaction, conditional
 * on the offsets by which it was numbered.
 */
export function openAppender(store: LogStore): Appender {
  const waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    await Promise.resolve(); // appends of the same turn join the first group
    while (waiting.length > 0) await writeGroup(store, takeGroup(waiting));
    writing = undefined;
  }

  return {
    append(records, { partition, ownerId }) {
      if (!(partition >= 0 && partition < store.partitions)) {
        return Promise.reject(new RangeError(`the event log has no partition ${partition}`));
      }
      return new Promise((resolve, reject) => {
        waiting.push({ records, partition, ownerId, resolve, reject });
        writing ??= writeAll();
      });
    },
    settled: async () => writing,
  };
}

function takeGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex(({ records }, index) => {
    for (const record of records) bytes += record.length;
    return index > 0 && bytes > COMMIT_BYTES_MAX;
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

async function writeGroup(store: LogStore, group: readonly Waiting[]): Promise<void> {
  const ends: number[] = [];
  try {
    // Refused only when another thread or process has appended in between: then these records get later offsets.
    while (!(await written(tryToPut(store, group, ends), store))) store.refresh();
    for (const [index, { resolve }] of group.entries()) resolve(ends[index] ?? 0);
  } catch (error) {
    for (const { reject } of group) reject(error as Error);
  }
}

/** After a full disk even reading may fail, at once: that is a rejection like any other. */
async function tryToPut(store: LogStore, group: readonly Waiting[], ends: number[]): Promise<boolean> {
  return putGroup(store, group, ends);
}

/** Sets `ends` to the offset behind the records of each append. */
function putGroup(store: LogStore, group: readonly Waiting[], ends: number[]): Promise<boolean> {
  const { topic, state, nextOffsetsKey } = store;
  const { value, version } = store.nextOffsets();
  const next = [...value];
  const now = Date.now();
  return state.ifVersion(nextOffsetsKey, version as number, () => {
    for (const [index, { records, partition, ownerId }] of group.entries()) {
      const owner: [string?] = ownerId === undefined ? [] : [ownerId];
      for (const record of records) {
        const offset = next[partition] ?? 0;
        void store.records.put([topic, partition, offset], record);
        void store.facts.put([topic, partition, offset], [record.length, now, ...owner]);
        next[partition] = offset + 1;
      }
      ends[index] = next[partition] ?? 0;
    }
    void state.put(nextOffsetsKey, next, (version ?? 0) + 1);
  });
}
