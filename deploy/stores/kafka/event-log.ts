import type { Admin } from "kafkajs";
import type { Logger } from "pino";
import { type RetryOptions, retry } from "../../../schemas/async/retry.js";
import {
  EVENTS_TOPIC,
  type EventLog,
  type LagReader,
  type LogConsumer,
} from "../../../schemas/records/event-log.js";
import type { KafkaConfig } from "../../config/config.js";
import { VARIABLES } from "../../config/variables.js";
import { StartFailure } from "../../process/start-failure.js";
import { explainConnection } from "../explain-tls.js";
import { type KafkaConnection, createKafka, disconnect } from "./kafka-client.js";
import { openAppender } from "./event-log-append.js";
import { startConsumer } from "./event-log-consume.js";
import { prepareTopic } from "./event-log-topic.js";

export interface KafkaLogOptions
  extends
    KafkaConnection,
    Pick<KafkaConfig, "prefix" | "partitions" | "createTopics">,
    Partial<Pick<KafkaConfig, "replicationFactor" | "sessionTimeoutMs">> {}

const SESSION_TIMEOUT_MS = Number(VARIABLES.KAFKA_SESSION_TIMEOUT_MS.default);

export interface KafkaLogListeners {
  /** Called with the number of records that were gone before the group had read them. */
  onRecordsLost?: (records: number) => void;
}

/**
 * An append resolves when all replicas in sync have it. Throws StartFailure when the brokers cannot be
 * reached, or the topic is missing and may not be made.
 */
export async function openKafkaLog(
  { prefix, sessionTimeoutMs = SESSION_TIMEOUT_MS, ...options }: KafkaLogOptions,
  log: Logger,
  { onRecordsLost = () => undefined }: KafkaLogListeners = {},
): Promise<EventLog & LagReader> {
  const topic = `${prefix}${EVENTS_TOPIC}`;
  const kafka = createKafka(options, log);
  const admin = kafka.admin();
  const { partitions, logId } = await reaching(options, admin, async () => {
    await admin.connect();
    const count = await prepareTopic(admin, { ...options, topic, create: options.createTopics }, log);
    return { partitions: count, logId: (await admin.describeCluster()).clusterId };
  });
  const appender = openAppender(kafka, topic);
  const consumers = new Set<LogConsumer>();
  return {
    partitions,
    append(records, { partition }) {
      if (partition >= 0 && partition < partitions) return appender.append(records, partition);
      return Promise.reject(new RangeError(`the event log has no partition ${partition}`));
    },
    async consume({ group, ...consuming }, handle) {
      const dependencies = { kafka, admin, topic, logId, sessionTimeoutMs, log, onRecordsLost };
      const consumer = await startConsumer(
        dependencies,
        { ...consuming, group: `${prefix}${group}` },
        handle,
      );
      consumers.add(consumer);
      return consumer;
    },
    ends: () => retry(() => readEnds(admin, topic), ELECTION),
    lag: (group, { below } = {}) =>
      retry(() => readLag(admin, { topic, groupId: `${prefix}${group}`, below }), ELECTION),
    async [Symbol.asyncDispose]() {
      await Promise.all([...consumers].map((consumer) => consumer[Symbol.asyncDispose]()));
      await appender.close();
      await disconnect(admin);
    },
  };
}

/** kafkajs gives up at once where the leader of a partition or the coordinator of a group has just been chosen. */
const ELECTION: RetryOptions = {
  attempts: 5,
  backoff: { firstMs: 200, maxMs: 1_000 },
  isTransient: (error) => error instanceof Error && "retriable" in error && error.retriable === true,
};

async function readEnds(admin: Admin, topic: string): Promise<number[]> {
  const ends: number[] = [];
  for (const { partition, high } of await admin.fetchTopicOffsets(topic)) ends[partition] = Number(high);
  return ends;
}

interface Lagging {
  topic: string;
  groupId: string;
  below: readonly number[] | undefined;
}

/** Records that were deleted unread are no lag: nobody will read them. */
async function readLag(admin: Admin, { topic, groupId, below }: Lagging): Promise<number> {
  const [ends, [found]] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    admin.fetchOffsets({ groupId, topics: [topic] }),
  ]);
  const committed = new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  return ends.reduce((sum, { partition, high, low }) => {
    const end = below === undefined ? Number(high) : Math.min(Number(high), below[partition] ?? 0);
    return sum + Math.max(0, end - Math.max(Number(low), committed.get(partition) ?? 0));
  }, 0);
}

async function reaching<T>({ brokers }: KafkaConnection, admin: Admin, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await disconnect(admin);
    if (error instanceof StartFailure) throw error;
    const reason = explainConnection(error, "KAFKA");
    throw new StartFailure(`Kafka at ${brokers.join(", ")} (KAFKA_BROKERS) cannot be used: ${reason}`, {
      cause: error,
    });
  }
}
