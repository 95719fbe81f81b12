import { setImmediate } from "node:timers/promises";
import type { ClickHouseClient } from "@clickhouse/client";
import { unpackedSize } from "../schemas/records/chunk-codec.js";
import type { ChunkOutcome, ImportProgress } from "../schemas/records/chunk-outcome.js";
import type { DeadLetter, DeadLetterStore } from "../schemas/records/dead-letter.js";
import type { Lookups } from "../schemas/records/enriched-event.js";
import { BatchLost, type EventLog, type LogConsumer } from "../schemas/records/event-log.js";
import { LANES, partitionsOf, type Lane } from "../schemas/records/log-lanes.js";
import type { Inserted, RowInserter } from "./batches/insert-rows.js";
import { openPace } from "./batches/pace-batches.js";
import { retryWhileDown, type Again } from "./batches/retry-while-down.js";
import type { ThreadMutex } from "./batches/thread-mutex.js";
import { writeBatch, type BatchWriter } from "./batches/write-batch.js";
import { ArtifactCache, type ResolveArtifact } from "./lookups/artifacts/artifact-cache.js";
import { LiveArtifacts, type ResolveLive } from "./lookups/artifacts/live-artifacts.js";
import { EventBlock } from "./native/event-block.js";
import { LogBlock } from "./native/log-block.js";

export const ENRICH_GROUP = "enrich";

/** A batch that was written and committed. */
export interface WrittenBatch {
  durationMs: number;
  /** Begun before and cut short by a crash or a rebalance: rows that were stored then keep their tokens. */
  again: boolean;
}

export interface WorkerDependencies {
  log: EventLog;
  clickhouse: ClickHouseClient;
  /** Called once a batch, so that tables can be swapped between batches. */
  lookups: () => Lookups;
  resolveArtifact: ResolveArtifact;
  resolveLive: ResolveLive;
  progress: ImportProgress;
  deadLetters: DeadLetterStore;
  share: { index: number; of: number };
  /** Shared by the lanes of all workers of a process. Needed only where crashes are to be blamed on one record. */
  mutexOf?: (lane: Lane) => ThreadMutex;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  onWritten?: (batch: WrittenBatch) => void;
  onInserted?: (insert: Inserted) => void;
  /** Called once for each new dead letter. */
  onDeadLetter?: (letter: DeadLetter) => void;
  /** Called for log entries that cannot be stored as they are. */
  onLogRefused?: NonNullable<RowInserter["onLogRefused"]>;
  /** Called after every failed try; `what` names the work, and the worker itself tries again. */
  onRetry?: (error: unknown, what: string) => void;
}

/**
 * Consumes the lanes of the event log side by side until disposed of; a store that is down is waited for. From a batch to
 * a line: the handler below -> writeBatch -> writeBlock -> fillBlock -> enrichChunk -> decodeLine.
 */
export async function startWorker(dependencies: WorkerDependencies): Promise<LogConsumer> {
  const lanes = LANES.filter((lane) => partitionsOf(lane, dependencies.log.partitions).length > 0);
  const starts = await Promise.allSettled(lanes.map((lane) => startLane(lane, dependencies)));
  const started = starts.flatMap((start) => (start.status === "fulfilled" ? start.value : []));
  const stop = () => Promise.all(started.map((consumer) => consumer[Symbol.asyncDispose]()));
  const failed = starts.find((start) => start.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return {
    crashed: Promise.race(started.map(({ crashed }) => crashed)),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

async function startLane(lane: Lane, dependencies: WorkerDependencies): Promise<LogConsumer> {
  const { log, share, onWritten } = dependencies;
  const stopping = new AbortController();
  const writer = openWriter(dependencies, { lane, stopping: stopping.signal });
  const pace = openPace(lane);
  const options = {
    group: ENRICH_GROUP,
    batchBytesMax: () => pace.bytesMax,
    sizeOf: unpackedSize,
    share,
    lane,
  };
  const consumer = await log.consume(options, async (batch) => {
    const startedAt = performance.now();
    const again = batch.recordedNote !== undefined;
    await writeBatch(batch, writer);
    const bytes = batch.records.reduce((sum, { value }) => sum + unpackedSize(value), 0);
    const durationMs = performance.now() - startedAt;
    pace.onWritten({ bytes, durationMs });
    onWritten?.({ durationMs, again });
  });
  return {
    crashed: consumer.crashed,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      // A caller may kill the program before the batch ends: that must not count against the current record. Where this
      // cannot be noted, it counts one crash, and one is not enough to make a record poison.
      await writer.current.range?.end().catch(() => undefined);
      await consumer[Symbol.asyncDispose]();
    },
  };
}

function openWriter(
  dependencies: WorkerDependencies,
  { lane, stopping }: { lane: Lane; stopping: AbortSignal },
): BatchWriter {
  const { resolveArtifact, resolveLive, onRetry, mutexOf = () => UNSHARED } = dependencies;
  const current: BatchWriter["current"] = {};
  const again: Again = (what, work) =>
    retryWhileDown(work, {
      async onFailure(error) {
        onRetry?.(error, what);
        // The program may be ended while it waits for a store: that must not count against the current record.
        await current.range?.end();
      },
      signal: stopping,
      isDown: (error) => !(error instanceof BatchLost),
    });
  return {
    ...dependencies,
    again,
    current,
    mutex: mutexOf(lane),
    stopping,
    // The express lane of this thread waits for one chunk of the bulk lane, 20 ms, not for a block.
    ...(lane === "bulk" && { betweenChunks: () => setImmediate() }),
    events: new EventBlock(),
    logs: new LogBlock(),
    // Waits here while the store is down, so that the chunk need not be enriched again.
    artifacts: new ArtifactCache((request) =>
      again("asking for an artifact", () => resolveArtifact(request)),
    ),
    live: new LiveArtifacts((ids) => again("asking for artifacts", () => resolveLive(ids))),
  };
}

const UNSHARED: ThreadMutex = { lock: async () => undefined, unlock: () => undefined };
