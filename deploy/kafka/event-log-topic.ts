import type { Admin } from "kafkajs";
import { StartFailure } from "../start-failure.js";

export interface TopicOptions {
  topic: string;
  /** Of a topic that is made now. */
  partitions: number;
  /** Of a topic that is made now; the brokers' default where nothing is said. */
  replicationFactor?: number;
  /** Whether it may be made at all. */
  create: boolean;
}

/** Chunks are up to 1 MiB of lines, with a line of 1 MiB at their end and the envelope. */
export const RECORD_BYTES_MAX = 4 * 1024 * 1024;
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Finds the topic, or makes it, and answers its number of partitions.
 * @throws StartFailure saying what to create, where it is missing and may not be made, or takes too small records
 */
export async function prepareTopic(admin: Admin, options: TopicOptions): Promise<number> {
  const { topic, create } = options;
  const there = await admin.listTopics();
  if (!there.includes(topic)) {
    if (!create) throw new StartFailure(`The topic ${topic} is missing. ${howToCreate(options)}`);
    await createTopic(admin, options);
  }
  await checkRecordSize(admin, options);
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  return topics[0]?.partitions.length ?? 0;
}

async function createTopic(admin: Admin, options: TopicOptions): Promise<void> {
  const { topic, partitions, replicationFactor = -1 } = options;
  try {
    // False when another process has just made it.
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        {
          topic,
          numPartitions: partitions,
          replicationFactor,
          configEntries: [
            { name: "max.message.bytes", value: String(RECORD_BYTES_MAX) },
            { name: "retention.ms", value: String(RETENTION_MS) },
            { name: "cleanup.policy", value: "delete" },
          ],
        },
      ],
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFailure(`The topic ${topic} cannot be made (${reason}). ${howToCreate(options)}`, {
      cause: error,
    });
  }
}

async function checkRecordSize(admin: Admin, options: TopicOptions): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: options.topic, configNames: ["max.message.bytes"] }],
  });
  const entry = resources[0]?.configEntries.find(({ configName }) => configName === "max.message.bytes");
  if (entry === undefined || Number(entry.configValue) >= RECORD_BYTES_MAX) return;
  throw new StartFailure(
    `The topic ${options.topic} takes records of ${entry.configValue} bytes at most: set its max.message.bytes to ${RECORD_BYTES_MAX}.`,
  );
}

/** `ConfigResourceTypes.TOPIC` of kafkajs. */
const TOPIC_RESOURCE = 2;

function howToCreate({ topic, partitions, replicationFactor = 3 }: TopicOptions): string {
  return (
    `Create it: kafka-topics.sh --create --topic ${topic} --partitions ${partitions} ` +
    `--replication-factor ${replicationFactor} --config max.message.bytes=${RECORD_BYTES_MAX} ` +
    `--config retention.ms=${RETENTION_MS}`
  );
}
