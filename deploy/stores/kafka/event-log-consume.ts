import type { ConsumeOptions, LogBatch, LogConsumer } from "../../../schemas/records/event-log.js";
import { assignLanes } from "./assign-lanes.js";
import { disconnect } from "./disconnect.js";
import { openReader, REBALANCE_TIMEOUT_MS, type ConsumerDependencies } from "./event-log-reader.js";
import { explainRefusal } from "./explain-refusal.js";
import { heartbeatMs } from "./send-heartbeats.js";

/** Limits of one fetch request: for one partition and in all. */
const FETCH_BYTES = { partition: 16 * 2 ** 20, all: 32 * 2 ** 20 };

/**
 * Consumes what the group gives to this consumer, one batch at a time, until it is disposed of or `handle` throws.
 * Throws StartFailure when the group does not take it.
 */
export async function startConsumer(
  dependencies: ConsumerDependencies,
  options: ConsumeOptions,
  handle: (batch: LogBatch) => Promise<void>,
): Promise<LogConsumer> {
  const { kafka, topic, sessionTimeoutMs } = dependencies;
  const consumer = kafka.consumer({
    groupId: options.group,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: REBALANCE_TIMEOUT_MS,
    heartbeatInterval: heartbeatMs(sessionTimeoutMs),
    // Without a lane kafkajs has an assigner of its own.
    ...(options.lane !== undefined && { partitionAssigners: [assignLanes(options.lane)] }),
    maxBytesPerPartition: FETCH_BYTES.partition,
    maxBytes: FETCH_BYTES.all,
    maxWaitTimeInMs: 250,
    allowAutoTopicCreation: false,
    // How soon it hears of new partitions.
    metadataMaxAge: 60_000,
  });
  let crash = (_: Error): void => undefined;
  const crashed = new Promise<Error>((resolve) => (crash = resolve));
  const reader = openReader(consumer, { ...dependencies, options, handle, crash });
  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, () => {
      reader.forget();
      resolve();
    });
  });
  // kafkajs begins anew by itself where that is of use.
  consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
    if (!restart) crash(error);
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 1,
    eachBatch: (payload) => reader.take(payload),
  });
  const refused = await Promise.race([joined, crashed]);
  if (refused !== undefined) {
    await disconnect(consumer);
    throw explainRefusal(refused, { group: options.group, sessionTimeoutMs });
  }
  let ending: Promise<void> | undefined;
  const end = async () => {
    // A consumer that is being stopped commits nothing any more, and says nothing of it.
    await reader.stop();
    await disconnect(consumer);
  };
  return {
    crashed,
    [Symbol.asyncDispose]: () => (ending ??= end()),
  };
}
