import { pause } from "../../../../schemas/async/pause.js";
import { EventLogUnavailable } from "../../../../schemas/records/event-log.js";
import { type LogStore, releaseMappedPages } from "./event-log-store.js";
import { type RecordKey, written } from "./event-log-tables.js";

export interface RetentionOptions {
  share: readonly number[];
  /** Bytes of consumed records that one partition keeps. */
  bytesMax: number;
  retentionMs: number;
  everyMs: number;
}

export interface Retention extends AsyncDisposable {
  /** Resolves with the reason when deleting failed; never when it was disposed of. */
  readonly crashed: Promise<Error>;
}

/** Deletes consumed records that are too old or too many, a few at a time, so that no append waits long. */
export function startRetention(store: LogStore, { share, everyMs, ...limits }: RetentionOptions): Retention {
  const stop = new AbortController();
  const { signal } = stop;
  const partitions = share.map((partition): Kept => ({ partition, through: 0, bytes: 0 }));

  async function deleteForever(): Promise<void> {
    while (!signal.aborted) {
      await pause(everyMs, { signal, ref: false });
      for (const kept of partitions) {
        let more = true;
        while (more && !signal.aborted) more = await deleteIfPossible(kept);
      }
    }
  }

  /** Even deleting needs room on the disk: without any, the next round tries again. */
  async function deleteIfPossible(kept: Kept): Promise<boolean> {
    try {
      return await deleteConsumed(store, kept, limits);
    } catch (error) {
      if (error instanceof EventLogUnavailable) return false;
      throw error;
    }
  }

  let crash: (error: Error) => void;
  const crashed = new Promise<Error>((resolve) => (crash = resolve));
  const ended = deleteForever().catch((cause: unknown) => {
    crash(new Error("consumed records could not be deleted from the event log", { cause }));
  });
  return {
    crashed,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** The consumed records of a partition that are still there: counted up to `through`, `bytes` in all. */
interface Kept {
  partition: number;
  through: number;
  bytes: number;
}

/** Bounds of one transaction and of what is read for it, because it runs on the thread that consumes. */
const COUNTED_MAX = 5_000;
const DELETED_MAX = 256;
const DELETED_BYTES_MAX = 16 * 2 ** 20;

/** Resolves with whether there may be more to delete. */
async function deleteConsumed(
  store: LogStore,
  kept: Kept,
  { bytesMax, retentionMs }: { bytesMax: number; retentionMs: number },
): Promise<boolean> {
  store.refresh();
  countConsumed(store, kept);
  const oldest = Date.now() - retentionMs;
  const doomed: RecordKey[] = [];
  let bytes = kept.bytes;
  for (const { key, value } of factsOf(store, kept.partition, {
    from: 0,
    to: kept.through,
    limit: DELETED_MAX,
  })) {
    if ((bytes <= bytesMax && value[1] > oldest) || kept.bytes - bytes > DELETED_BYTES_MAX) break;
    doomed.push(key);
    bytes -= value[0];
  }
  if (doomed.length === 0) return false;
  const deleting = store.facts.batch(() => {
    for (const key of doomed) {
      void store.records.remove(key);
      void store.facts.remove(key);
    }
  });
  await written(deleting, store);
  kept.bytes = bytes;
  releaseMappedPages(store.file); // deleting a record maps the beginning of it
  return true;
}

function countConsumed(store: LogStore, kept: Kept): void {
  const to = store.consumedBelow(kept.partition);
  for (const { key, value } of factsOf(store, kept.partition, {
    from: kept.through,
    to,
    limit: COUNTED_MAX,
  })) {
    kept.bytes += value[0];
    kept.through = key[2] + 1;
  }
}

export function factsOf(
  store: LogStore,
  partition: number,
  { from, to, limit }: { from: number; to: number; limit: number },
) {
  return store.facts.getRange({
    start: [store.topic, partition, from],
    end: [store.topic, partition, to],
    limit,
  });
}
