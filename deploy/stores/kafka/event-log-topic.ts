import type { Admin } from "kafkajs";
import type { Logger } from "pino";
import { retry } from "../../../schemas/async/retry.js";
import { LOG_DAYS } from "../../../schemas/records/event-log.js";
import { StartFailure } from "../../process/start-failure.js";

export interface TopicOptions {
  topic: string;
  /** For a topic that is created now. */
  partitions: number;
  /** For a topic that is created now; without it, 3 where there are so many brokers, else the brokers' default. */
  replicationFactor?: number;
  create: boolean;
}

/** Chunks are up to 1 MiB of lines, with a line of 1 MiB at their end and the envelope. */
export const RECORD_BYTES_MAX = 4 * 1024 * 1024;
const CREATE_ATTEMPTS = 5;
const RETENTION_MS = LOG_DAYS * 24 * 60 * 60 * 1000;
/** With three copies, of which two must be written, a broker may die and appends go on. */
const COPIES = 3;
const IN_SYNC = 2;

/**
 * Answers its number of partitions. Warns of settings that may lose records. @throws StartFailure for a
 * missing topic that may not be made, and for one that takes too small records or is compacted
 */
export async function prepareTopic(admin: Admin, options: TopicOptions, log: Logger): Promise<number> {
  const { topic, create } = options;
  const there = await admin.listTopics();
  if (!there.includes(topic)) {
    if (!create) throw new StartFailure(`The topic ${topic} is missing. ${howToCreate(options)}`);
    await createTopic(admin, options);
  }
  const settings = await readSettings(admin, topic);
  checkSettings(topic, settings);
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions ?? [];
  const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
  const { brokers } = await admin.describeCluster();
  for (const warning of risksOf(settings, { replicas, brokers: brokers.length }))
    log.warn({ topic }, warning);
  return partitions.length;
}

async function createTopic(admin: Admin, options: TopicOptions): Promise<void> {
  const { topic, partitions } = options;
  try {
    const replicationFactor = options.replicationFactor ?? (await copiesFor(admin));
    const made = {
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: settingsFor(replicationFactor),
    };
    // A broker may not know yet of the topic that it has just made. The next attempt finds it there, and so does the
    // first one when another process has made it.
    await retry(() => admin.createTopics({ waitForLeaders: true, topics: [made] }), {
      attempts: CREATE_ATTEMPTS,
      backoff: { firstMs: 200, maxMs: 1_000 },
      isTransient: (error) => (error as { retriable?: boolean } | undefined)?.retriable === true,
    });
  } catch (error) {
    throw new StartFailure(
      `The topic ${topic} cannot be created (${reasonOf(error)}). ${howToCreate(options)}`,
      {
        cause: error,
      },
    );
  }
}

async function copiesFor(admin: Admin): Promise<number> {
  const { brokers } = await admin.describeCluster();
  return brokers.length >= COPIES ? COPIES : BROKERS_DEFAULT;
}

const BROKERS_DEFAULT = -1;

/** The brokers' default replication factor is unknown, so the number of replicas in sync is left to them as well. */
function settingsFor(replicationFactor: number): { name: string; value: string }[] {
  return [
    { name: "max.message.bytes", value: String(RECORD_BYTES_MAX) },
    { name: "cleanup.policy", value: "delete" },
    { name: "retention.ms", value: String(RETENTION_MS) },
    { name: "retention.bytes", value: "-1" },
    ...(replicationFactor >= 2 ? [{ name: "min.insync.replicas", value: String(IN_SYNC) }] : []),
  ];
}

/** kafkajs puts the brokers' words, one for each topic, into an error that says nothing itself. */
function reasonOf(error: unknown): string {
  const [first] = (error as { errors?: Error[] } | undefined)?.errors ?? [];
  const said = first ?? error;
  return said instanceof Error ? said.message : String(said);
}

type Settings = ReadonlyMap<string, string>;

async function readSettings(admin: Admin, topic: string): Promise<Settings> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic, configNames: READ_SETTINGS }],
  });
  const entries = resources[0]?.configEntries ?? [];
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}

/** `ConfigResourceTypes.TOPIC` of kafkajs. */
const TOPIC_RESOURCE = 2;

const READ_SETTINGS = [
  "max.message.bytes",
  "cleanup.policy",
  "retention.ms",
  "retention.bytes",
  "min.insync.replicas",
];

function checkSettings(topic: string, settings: Settings): void {
  const bytesMax = settings.get("max.message.bytes");
  if (bytesMax !== undefined && Number(bytesMax) < RECORD_BYTES_MAX)
    throw new StartFailure(
      `The topic ${topic} accepts records of at most ${bytesMax} bytes. Set its max.message.bytes to ` +
        `${RECORD_BYTES_MAX}.`,
    );
  const cleanup = settings.get("cleanup.policy") ?? "delete";
  if (cleanup.includes("compact"))
    throw new StartFailure(
      `The topic ${topic} is compacted (cleanup.policy=${cleanup}), which removes or rejects records without ` +
        "a key. Set its cleanup.policy to delete.",
    );
}

/** Names each setting that may lose acknowledged records; -1 is no limit. */
function risksOf(settings: Settings, { replicas, brokers }: { replicas: number; brokers: number }): string[] {
  const { bytes, ms, inSync } = {
    bytes: Number(settings.get("retention.bytes") ?? -1),
    ms: Number(settings.get("retention.ms") ?? -1),
    inSync: Number(settings.get("min.insync.replicas") ?? IN_SYNC),
  };
  const risks: string[] = [];
  if (bytes !== -1)
    risks.push(
      `the topic's retention.bytes is ${bytes}, so records may be deleted before they are read; set it to -1`,
    );
  if (ms !== -1 && ms < RETENTION_MS)
    risks.push(
      `the topic's retention.ms is ${ms}, so records may be deleted before they are read if enrichment ` +
        `pauses, even for less than ${LOG_DAYS} days; set it to ${RETENTION_MS}`,
    );
  if (inSync < IN_SYNC && replicas >= IN_SYNC)
    risks.push(
      `the topic's min.insync.replicas is ${inSync}, so records can be acknowledged when only one of ` +
        `${replicas} brokers has them; set it to ${IN_SYNC}`,
    );
  if (brokers >= COPIES && replicas < COPIES)
    risks.push(
      `the topic has ${replicas} instead of ${COPIES} replicas although there are ${brokers} brokers, so ` +
        `records are lost or imports wait if a broker fails; set the replication factor to ${COPIES} ` +
        `(kafka-reassign-partitions.sh), then min.insync.replicas to ${IN_SYNC}`,
    );
  return risks;
}

function howToCreate({ topic, partitions, replicationFactor = COPIES }: TopicOptions): string {
  const settings = settingsFor(replicationFactor).map(({ name, value }) => `--config ${name}=${value}`);
  return (
    `Create it: kafka-topics.sh --create --topic ${topic} --partitions ${partitions} ` +
    `--replication-factor ${replicationFactor} ${settings.join(" ")}`
  );
}
