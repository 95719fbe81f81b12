import { pause } from "../../../../schemas/async/pause.js";
import type {
  Arriving,
  ConsumeOptions,
  Gather,
  LogBatch,
  LogConsumer,
} from "../../../../schemas/records/event-log.js";
import { BatchMemory, type PartitionReader, openPartition } from "./event-log-partition.js";
import { type LogStore, releaseMappedPages } from "./event-log-store.js";

type SharedConsumeOptions = Omit<ConsumeOptions, "share"> & { share: readonly number[] };

/** How long a consumer that found nothing waits before it looks again: at first, while records arrive, and at most. */
const IDLE_MS_MIN = 1;
const ARRIVING_MS_MAX = 5;
const IDLE_MS_MAX = 100;
const IDLE_GROWTH = 1.5;

/** Memory of batches is kept for the next one for this long. */
const RELEASE_AFTER_MS = 3_000;

/** Pages that were read stay mapped, and count as memory of the process, until they are released. */
const MAPPED_BYTES_MAX = 16 * 2 ** 20;

const NONE_ARRIVE: Arriving = { value: 0, untilRisen: pause };

/** Consumes a share of the partitions in turn, one batch at a time; `crashed` also says why a read failed. */
export async function startConsumer(
  store: LogStore,
  { group, batchBytesMax, sizeOf, gather, share }: SharedConsumeOptions,
  handle: (batch: LogBatch) => Promise<void>,
): Promise<LogConsumer> {
  const stop = new AbortController();
  const memory = new BatchMemory();
  const arriving = gather?.arriving ?? NONE_ARRIVE;
  const partitions = await Promise.all(
    share.map((partition) => openPartition(store, { group, partition, batchBytesMax, sizeOf, memory })),
  );
  let mappedBytes = 0;

  function readAppended(): readonly number[] {
    store.refresh();
    return store.nextOffsets().value;
  }

  async function consumeNext(partition: PartitionReader): Promise<void> {
    if (gather !== undefined) {
      const waiting = () => partition.waiting(readAppended());
      await gatherRecords(gather, { waiting, signal: stop.signal });
      if (stop.signal.aborted) return;
    }
    // Includes the records that were appended since the last look at the log.
    store.refresh();
    const batch = partition.nextBatch();
    for (const { value } of batch.records) mappedBytes += value.length;
    if (mappedBytes > MAPPED_BYTES_MAX) {
      releaseMappedPages(store.file);
      mappedBytes = 0;
    }
    await handle(batch);
    if (!partition.isPast(batch)) throw new Error(`the handler returned without committing ${batch.token}`);
  }

  async function consumeAll(): Promise<void> {
    let idleMs = IDLE_MS_MIN;
    let foundAt = 0;
    while (!stop.signal.aborted) {
      // One look for all partitions: an idle log is looked at ten times a second, more often while records arrive.
      const appended = readAppended();
      const found = partitions.filter((partition) => partition.hasNext(appended));
      for (const partition of found) {
        if (stop.signal.aborted) return;
        await consumeNext(partition);
      }
      const isIdle = found.length === 0;
      const idleMsMax = arriving.value > 0 ? ARRIVING_MS_MAX : IDLE_MS_MAX;
      idleMs = isIdle ? Math.min(idleMs * IDLE_GROWTH, idleMsMax) : IDLE_MS_MIN;
      if (!isIdle) foundAt = performance.now();
      else if (performance.now() - foundAt > RELEASE_AFTER_MS) memory.release();
      if (isIdle) await arriving.untilRisen(idleMs, { signal: stop.signal });
    }
  }

  let crash: (error: Error) => void;
  const crashed = new Promise<Error>((resolve) => (crash = resolve));
  const ended = consumeAll().catch((error: unknown) => {
    crash(error instanceof Error ? error : new Error("consuming failed", { cause: error }));
  });
  return {
    crashed,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

/** So many records are a batch that is worth its price: more are not waited for. */
const GATHERED_MAX = 64;
/** How often to look while more records are known to arrive. */
const ARRIVING_STEP_MS = 5;

interface GatherDependencies {
  waiting: () => number;
  signal: AbortSignal;
  /** In milliseconds; only differences count. */
  now?: () => number;
  wait?: typeof pause;
}

/** Resolves when a batch may begin: at once where nothing waits, and else when no more records come. */
export async function gatherRecords(
  { quietMs, mostMs, arriving }: Gather,
  { waiting, signal, now = () => performance.now(), wait = pause }: GatherDependencies,
): Promise<void> {
  const until = now() + mostMs;
  let stepMs = quietMs;
  let before = 0;
  for (let count = waiting(); count > 0 && count < GATHERED_MAX; count = waiting()) {
    const isArriving = (arriving?.value ?? 0) > 0;
    const left = until - now();
    if ((count === before && !isArriving) || left <= 0 || signal.aborted) return;
    if (isArriving) stepMs = ARRIVING_STEP_MS;
    before = count;
    await wait(Math.min(stepMs, left), { signal });
  }
}
