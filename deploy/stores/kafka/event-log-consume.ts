import { AssignerProtocol, type PartitionAssigner } from "kafkajs";
import {
  type ConsumeOptions,
  QUEUES,
  type Queue,
  type LogBatch,
  type LogConsumer,
  partitionsOf,
} from "../../../schemas/records/event-log.js";
import { StartFailure } from "../../process/start-failure.js";
import { heartbeatMs } from "./event-log-position.js";
import { type ConsumerDependencies, REBALANCE_TIMEOUT_MS, openReader } from "./event-log-reader.js";
import { disconnect } from "./kafka-client.js";

/** Limits of one fetch request: for one partition and in all. */
const FETCH_BYTES = { partition: 16 * 2 ** 20, all: 32 * 2 ** 20 };

/**
 * One batch at a time, until it is disposed of or `handle` throws. Throws StartFailure when the group refuses
 * it.
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
    // Without a queue kafkajs has an assigner of its own.
    ...(options.queue !== undefined && { partitionAssigners: [assignQueues(options.queue)] }),
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
  /** Fetches nothing before: where records are gone kafkajs overwrites the committed offset, and the range with it. */
  const readJoined = async () => {
    const read = reader.forget();
    consumer.pause([{ topic }]);
    if (await read) consumer.resume([{ topic }]);
  };
  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, () => {
      // A consumer that was stopped can neither be paused nor resumed.
      readJoined().catch(() => undefined);
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

interface Membership {
  /** As the brokers know it. */
  group: string;
  sessionTimeoutMs: number;
}

/** The sentence for a consumer that its group does not take, or the error itself when it has no known cause. */
function explainRefusal(error: Error, membership: Membership): Error {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { type, name } = at as { type?: string; name: string };
    const sentence = SENTENCES[type ?? name];
    if (sentence !== undefined)
      return new StartFailure(sentence(membership, `${at.message} (${type ?? name})`), { cause: error });
  }
  return error;
}

/** By Kafka's name for what a broker answered, or by that of kafkajs, which may hide it. */
const SENTENCES: Record<string, (membership: Membership, answer: string) => string> = {
  INVALID_SESSION_TIMEOUT: ({ group, sessionTimeoutMs }, answer) =>
    `Kafka rejected KAFKA_SESSION_TIMEOUT_MS=${sessionTimeoutMs} for the group ${group}: ${answer}. It ` +
    "must be between the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms.",
  GROUP_AUTHORIZATION_FAILED: ({ group }, answer) =>
    `Kafka does not allow this user to join the group ${group}: ${answer}. The user needs READ on this group.`,
  // Also what kafkajs makes of GROUP_AUTHORIZATION_FAILED where the user may not even look at the group.
  KafkaJSGroupCoordinatorNotFound: ({ group }, answer) =>
    `Kafka returned no coordinator for the group ${group}: ${answer}. Either this user lacks READ on the ` +
    "group, or the brokers are not ready yet.",
};

const { MemberAssignment, MemberMetadata } = AssignerProtocol;
const VERSION = 1;

/** Divides each queue's partitions among its members. Those of a queue without members go to the others. */
export function assignQueues(queue: Queue): PartitionAssigner {
  const name = "queues";
  return ({ cluster }) => ({
    name,
    version: VERSION,
    protocol: ({ topics }) => ({
      name,
      metadata: MemberMetadata.encode({ version: VERSION, topics, userData: Buffer.from(queue) }),
    }),
    async assign({ members, topics }) {
      const assigned = new Map<string, Record<string, number[]>>(
        members.map(({ memberId }) => [memberId, {}]),
      );
      const queueMembers = members.map(({ memberId, memberMetadata }) => ({
        memberId,
        queue: MemberMetadata.decode(memberMetadata)?.userData.toString(),
      }));
      for (const topic of topics)
        for (const [memberId, partitions] of divide(
          queueMembers,
          cluster.findTopicPartitionMetadata(topic).length,
        ))
          (assigned.get(memberId) ?? {})[topic] = partitions;
      return [...assigned].map(([memberId, assignment]) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({ version: VERSION, assignment, userData: NO_DATA }),
      }));
    },
  });
}

const NO_DATA = Buffer.alloc(0);

interface QueueMember {
  memberId: string;
  queue: string | undefined;
}

/** Every member knows the same members, so the order of their ids is the order for all. */
export function divide(members: readonly QueueMember[], partitions: number): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const divided = new Map(sorted.map(({ memberId }): [string, number[]] => [memberId, []]));
  for (const queue of QUEUES) {
    const own = sorted.filter((member) => member.queue === queue);
    const takers = own.length > 0 ? own : sorted;
    for (const [index, partition] of partitionsOf(queue, partitions).entries())
      divided.get(takers[index % takers.length]?.memberId ?? "")?.push(partition);
  }
  return divided;
}
