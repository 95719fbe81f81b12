import type { ClickHouseClient } from "@clickhouse/client";
import { unpackedSize } from "../schemas/records/chunk-codec.js";
import type { ChunkOutcome, ImportProgress } from "../schemas/records/chunk-outcome.js";
import type { Lookups } from "../schemas/records/enriched-event.js";
import { BatchLost, type EventLog, type LogConsumer } from "../schemas/records/event-log.js";
import type { DeadLetter, DeadLetterStore } from "../schemas/records/dead-letter.js";
import { ArtifactCache, type ResolveArtifact } from "./batches/artifact-cache.js";
import type { ThreadMutex } from "./batches/thread-mutex.js";
import type { Inserted } from "./batches/insert-rows.js";
import { LiveArtifacts, type ResolveLive } from "./batches/live-artifacts.js";
import { EventBlock } from "./native/event-block.js";
import { LogBlock } from "./native/log-block.js";
import { openPace } from "./batches/pace-batches.js";
import { retryWhileDown, type Again } from "./batches/retry-while-down.js";
import { writeBatch, type BatchWriter } from "./batches/write-batch.js";

export const ENRICH_GROUP = "enrich";

/** A batch that was written and committed. */
export interface WrittenBatch {
  durationMs: number;
  /** Begun before and cut short, by a crash or a rebalance: what of it was stored is written again under its token. */
  again: boolean;
}

export interface WorkerDependencies {
  log: EventLog;
  clickhouse: ClickHouseClient;
  /** Asked once a batch, so that tables can be swapped between batches. */
  lookups: () => Lookups;
  resolveArtifact: ResolveArtifact;
  resolveLive: ResolveLive;
  progress: ImportProgress;
  deadLetters: DeadLetterStore;
  share: { index: number; of: number };
  /** Shared by the workers of a process. Needed only where there are several. */
  mutex?: ThreadMutex;
  onOutcomes?: (outcomes: readonly ChunkOutcome[]) => void;
  onWritten?: (batch: WrittenBatch) => void;
  onInserted?: (insert: Inserted) => void;
  /** Called once for each new dead letter. */
  onDeadLetter?: (letter: DeadLetter) => void;
  /** Told of log entries that cannot be stored as they are. */
  onLogRefused?: NonNullable<BatchWriter["onLogRefused"]>;
  /** Told of every failed try; the worker itself tries again. */
  onRetry?: (error: unknown, what: string) => void;
}

/** Consumes the event log batch by batch until disposed of; a store that is down is waited for. */
export async function startWorker(dependencies: WorkerDependencies): Promise<LogConsumer> {
  const { log, share, onWritten } = dependencies;
  const stopping = new AbortController();
  const writer = openWriter(dependencies, stopping.signal);
  const pace = openPace();
  const options = { group: ENRICH_GROUP, batchBytesMax: () => pace.bytesMax, sizeOf: unpackedSize, share };
  const consumer = await log.consume(options, async (batch) => {
    const startedAt = performance.now();
    const again = batch.recordedNote !== undefined;
    await writeBatch(batch, writer);
    const bytes = batch.records.reduce((sum, { value }) => sum + unpackedSize(value), 0);
    const durationMs = performance.now() - startedAt;
    pace.took({ bytes, durationMs });
    onWritten?.({ durationMs, again });
  });
  return {
    crashed: consumer.crashed,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      // Whoever does not wait for the end of the batch says nothing about the record in hand. What cannot be noted
      // now counts a death too many for it, of which one is not enough.
      await writer.inHand.range?.end().catch(() => undefined);
      await consumer[Symbol.asyncDispose]();
    },
  };
}

function openWriter(dependencies: WorkerDependencies, stopping: AbortSignal): BatchWriter {
  const { resolveArtifact, resolveLive, onRetry, mutex = UNSHARED } = dependencies;
  const inHand: BatchWriter["inHand"] = {};
  const again: Again = (what, work) =>
    retryWhileDown(work, {
      async onFailure(error) {
        onRetry?.(error, what);
        // Whoever ends the program while it waits for a store says nothing about the chunk that waits.
        await inHand.range?.end();
      },
      signal: stopping,
      isDown: (error) => !(error instanceof BatchLost),
    });
  return {
    ...dependencies,
    again,
    inHand,
    mutex,
    stopping,
    events: new EventBlock(),
    logs: new LogBlock(),
    // A line waits for its artifact's answer: a chunk that was half enriched is never begun again.
    artifacts: new ArtifactCache((request) =>
      again("asking for an artifact", () => resolveArtifact(request)),
    ),
    live: new LiveArtifacts((targets) => again("asking for artifacts", () => resolveLive(targets))),
  };
}

const UNSHARED: ThreadMutex = { lock: async () => undefined, unlock: () => undefined };
