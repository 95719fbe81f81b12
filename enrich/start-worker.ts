import { setImmediate } from "node:timers/promises";
import type { Shards } from "../schemas/shards.js";
import { whenIdle, type IdleWatch } from "../schemas/async/pause.js";
import { unpackedSize } from "../schemas/records/chunk-codec.js";
import type { ChunkOutcome, DeadLetter } from "../schemas/records/chunk-outcome.js";
import type { OldestTime } from "../schemas/event-retention.js";
import type { Lookups } from "../schemas/records/enriched-event.js";
import {
  BatchLost,
  ENRICH_GROUP,
  QUEUES,
  partitionsOf,
  type Arriving,
  type EventLog,
  type Gather,
  type LogBatch,
  type LogConsumer,
  type Queue,
} from "../schemas/records/event-log.js";
import type { Inserted, RowInserter } from "./batches/insert-block.js";
import { openPace, type Pace } from "./batches/pace-batches.js";
import { LogBudget } from "./batches/enrich-chunk.js";
import { retryWhileDown, type Again } from "./batches/retry-while-down.js";
import type { ThreadMutex } from "./batches/poison-detection.js";
import { writeBatch, type BatchWriter } from "./batches/write-batch.js";
import {
  ArtifactCache,
  type ResolveArtifact,
  LiveArtifacts,
  type ResolveLive,
} from "./lookups/artifact-cache.js";
import type { Ids } from "./lookups/open-ids.js";
import { EventBlock } from "./native/event-block.js";
import { LogBlock } from "./native/log-block.js";

export interface WrittenBatch {
  durationMs: number;
  /** Begun before and cut short by a crash or a rebalance: rows that were stored then keep their tokens. */
  again: boolean;
}

export interface WorkerDependencies {
  log: EventLog;
  shards: Shards;
  /** Called once a batch, so that tables can be swapped between batches. */
  lookups: () => Lookups;
  ids: Ids;
  resolveArtifact: ResolveArtifact;
  resolveLive: ResolveLive;
  progress: BatchWriter["progress"];
  recounts: BatchWriter["recounts"];
  putDeadLetter: BatchWriter["putDeadLetter"];
  share: { index: number; of: number };
  /** The imports that are about to append their first lines; see `Gather`. */
  arriving?: Arriving;
  /** The least `$time` of a line, by its time of receipt; none without. */
  oldestTime?: OldestTime;
  /** Shared by the queues of all workers of a process. Needed only where crashes are to be blamed on one chunk. */
  mutexOf?: (queue: Queue) => ThreadMutex;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  onWritten?: (batch: WrittenBatch) => void;
  onIdle?: () => void;
  onInserted?: (insert: Inserted) => void;
  onDeadLetter?: (deadLetter: DeadLetter) => void;
  /** Called for log entries that cannot be stored as they are. */
  onLogRefused?: NonNullable<RowInserter["onLogRefused"]>;
  /** Called after every failed try; `what` names the work, and the worker itself tries again. */
  onRetry?: (error: unknown, what: string) => void;
}

/**
 * Consumes both queues side by side until disposed of; a store that is down is waited for. From a batch to a
 * row: `writeWith` below, writeBatch, beginBatch, readChunks, writeBlock, enrichChunk, decodeLine, readEvent,
 * steps and EventBlock.add, insertRows.
 */
export async function startWorker(dependencies: WorkerDependencies): Promise<LogConsumer> {
  const queues = QUEUES.filter((queue) => partitionsOf(queue, dependencies.log.partitions).length > 0);
  const writers: BatchWriter[] = [];
  const idle = whenIdle(IDLE_MS, () => {
    for (const writer of writers) Object.assign(writer, openBlocks(dependencies));
    dependencies.onIdle?.();
  });
  const start = (queue: Queue) => {
    const stopping = new AbortController();
    const writer = openWriter(dependencies, { queue, stopping: stopping.signal });
    writers.push(writer);
    return startQueue(queue, { ...dependencies, writer, stopping, idle });
  };
  const starts = await Promise.allSettled(queues.map(start));
  const started = starts.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  const stop = async () => {
    await Promise.all(started.map((consumer) => consumer[Symbol.asyncDispose]()));
    idle[Symbol.dispose]();
  };
  const failed = starts.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { crashed: Promise.race(started.map(({ crashed }) => crashed)), [Symbol.asyncDispose]: stop };
}

/**
 * An insert costs ClickHouse 50 to 70 ms of processor time, whether it has one small import or all that an
 * owner may have at a time, which arrive some 10 ms apart.
 */
const GATHER: Gather = { quietMs: 25, mostMs: 200 };

interface QueueDependencies extends Pick<WorkerDependencies, "log" | "share" | "arriving" | "onWritten"> {
  writer: BatchWriter;
  stopping: AbortController;
  idle: IdleWatch;
}

async function startQueue(queue: Queue, dependencies: QueueDependencies): Promise<LogConsumer> {
  const { log, share, arriving, writer, stopping, idle } = dependencies;
  const pace = openPace(queue);
  const options = {
    group: ENRICH_GROUP,
    batchBytesMax: () => pace.bytesMax,
    sizeOf: unpackedSize,
    ...(queue === "express" && { gather: { ...GATHER, arriving } }),
  };
  const write = writeWith(pace, dependencies);
  const consumer = await log.consume({ ...options, share, queue }, (batch) => idle.during(write(batch)));
  return {
    crashed: consumer.crashed,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      // A caller may kill the program before the batch ends: that must not count against the current chunk. Where this
      // cannot be recorded, it counts one crash, and one is not enough to make a chunk poison.
      await writer.current.batch?.end().catch(() => undefined);
      await consumer[Symbol.asyncDispose]();
    },
  };
}

function writeWith(pace: Pace, { writer, onWritten }: QueueDependencies): (batch: LogBatch) => Promise<void> {
  return async (batch) => {
    const startedAt = performance.now();
    const again = batch.recordedNote !== undefined;
    const bytes = batch.records.reduce((sum, { value }) => sum + unpackedSize(value), 0);
    try {
      await writeBatch(batch, writer);
    } finally {
      // Otherwise an idle worker keeps the records of its last batch.
      delete writer.current.batch;
    }
    const durationMs = performance.now() - startedAt;
    pace.onWritten({ bytes, durationMs });
    onWritten?.({ durationMs, again });
  };
}

function openWriter(
  dependencies: WorkerDependencies,
  { queue, stopping }: { queue: Queue; stopping: AbortSignal },
): BatchWriter {
  const { resolveArtifact, resolveLive, onRetry, mutexOf = () => UNSHARED } = dependencies;
  const current: BatchWriter["current"] = {};
  const again: Again = (what, work) =>
    retryWhileDown(work, {
      async onFailure(error) {
        onRetry?.(error, what);
        // The program may be ended while it waits for a store: that must not count against the current chunk.
        await current.batch?.end();
      },
      signal: stopping,
      isDown: (error) => !(error instanceof BatchLost),
    });
  return {
    ...dependencies,
    again,
    current,
    mutex: mutexOf(queue),
    stopping,
    // The express queue of this thread waits for one chunk of the bulk queue, 20 ms, not for a block.
    ...(queue === "bulk" && { betweenChunks: () => setImmediate() }),
    ...openBlocks(dependencies),
    logBudget: new LogBudget(),
    // Waits here while the store is down, so that the chunk need not be enriched again.
    artifacts: new ArtifactCache((request, since) =>
      again("reading an artifact", () => resolveArtifact(request, since)),
    ),
    live: new LiveArtifacts((ids) => again("reading artifacts", () => resolveLive(ids))),
  };
}

/** Blocks keep their memory for the next batch for this long; the log has released that of its records by then. */
const IDLE_MS = 5_000;

function openBlocks({ ids }: Pick<WorkerDependencies, "ids">): Pick<BatchWriter, "events" | "logs"> {
  return { events: new EventBlock(ids), logs: new LogBlock() };
}

const UNSHARED: ThreadMutex = { lock: async () => undefined, unlock: () => undefined };
