import {
  type ConsumeOptions,
  EVENTS_TOPIC,
  type EventLog,
  type LagReader,
  type LogConsumer,
  partitionsOf,
} from "../../../../schemas/records/event-log.js";
import { openAppender } from "./event-log-append.js";
import { startConsumer } from "./event-log-consume.js";
import { startRetention } from "./event-log-retention.js";
import { trackUnconsumed } from "./event-log-unconsumed.js";
import { requireRoom } from "./event-log-tables.js";
import { openLogStore } from "./event-log-store.js";

export interface EmbeddedLogOptions {
  /** Folder of the log's two files; made when absent. Threads and processes may share it. */
  dir: string;
  topic?: string;
  /** Fixed when the topic is made; a later value is ignored. */
  partitions?: number;
  /** Consumed records are deleted when this old, or when more than `retentionBytes` of them are kept. */
  retentionMs?: number;
  retentionBytes?: number;
  /** How often a consumer looks for records to delete. */
  retentionEveryMs?: number;
  /** Answers the room on the disk of a file; the system is asked by default. */
  freeBytes?: (file: string) => Promise<number>;
}

/**
 * One file for all partitions, each append flushed to the disk before it resolves. Threads and processes may
 * open the same folder; each partition has one consumer. Records that no group consumed are never deleted; a
 * full disk rejects appends. Throws StartFailure when the folder cannot be written.
 */
export async function openEmbeddedLog({
  dir,
  topic = EVENTS_TOPIC,
  partitions = 8,
  retentionMs = 600_000,
  retentionBytes = 2 ** 30,
  retentionEveryMs = 5_000,
  freeBytes,
}: EmbeddedLogOptions): Promise<EventLog & LagReader> {
  const store = await openLogStore({ dir, topic, partitions });
  const appender = openAppender(store);
  const consumers = new Set<LogConsumer>();
  return {
    partitions: store.partitions,
    append: (records, to) => appender.append(records, to),
    async consume(options, handle) {
      const share = shareOf(options, store.partitions);
      const bytesMax = retentionBytes / store.partitions;
      const consumer = await startConsumer(store, { ...options, share }, handle);
      const retention = startRetention(store, { share, bytesMax, retentionMs, everyMs: retentionEveryMs });
      const started: LogConsumer = {
        crashed: Promise.race([consumer.crashed, retention.crashed]),
        async [Symbol.asyncDispose]() {
          await consumer[Symbol.asyncDispose]();
          await retention[Symbol.asyncDispose]();
          consumers.delete(started);
        },
      };
      consumers.add(started);
      return started;
    },
    ends: async () => store.ends(),
    lag: async (group, { below } = {}) => store.lag(group, range(store.partitions), below),
    unconsumedBytes: trackUnconsumed(store),
    requireRoom: () => requireRoom(store, freeBytes),
    lagOfQueue: (group, queue) => store.lag(group, partitionsOf(queue, store.partitions)),
    async [Symbol.asyncDispose]() {
      await Promise.all([...consumers].map((consumer) => consumer[Symbol.asyncDispose]()));
      await appender.settled();
      await store.root.close();
    },
  };
}

/** The queues are dealt out from opposite ends, so that with many consumers those without one queue have the other. */
function shareOf({ share: { index, of }, queue }: ConsumeOptions, partitions: number): number[] {
  const own = queue === "express" ? of - 1 - index : index;
  const all = queue === undefined ? range(partitions) : partitionsOf(queue, partitions);
  return all.filter((_, nth) => nth % of === own);
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
