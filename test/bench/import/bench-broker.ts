import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assetUrl } from "../../../schemas/asset.js";
import { KAFKA_VERSION } from "../../broker/fetch-broker.js";
import { startBroker } from "../../broker/start-broker.js";
import { parseConfig } from "../../../deploy/config/config.js";
import type { ClosingStack } from "../../../deploy/process/closing.js";
import { createLog } from "../../../deploy/process/log.js";
import type { KafkaConnection } from "../../../deploy/stores/kafka/kafka-client.js";
import { createKafka } from "../../../deploy/stores/kafka/kafka-client.js";
import { readKafkaOptions } from "../../../deploy/stores/open-event-log.js";

export interface BenchBroker {
  /** The value of KAFKA_BROKERS. */
  brokers: string;
  /** The process id of a broker that was started here. */
  pid?: number;
  /** Deletes the topics and groups whose names start with the prefix. */
  clear(prefix: string): Promise<void>;
}

// Shared with the tests, so that a clone downloads the broker once.
const LIB = `node_modules/.cache/maintainer-toolchain/kafka-${KAFKA_VERSION}`;

/** Connects to KAFKA_BROKERS. Without it, starts a broker with Java in the folder until `open` is closed. */
export async function openBenchBroker({
  folder,
  open,
  onProgress,
}: {
  folder: string;
  open: ClosingStack;
  onProgress: (sentence: string) => void;
}): Promise<BenchBroker> {
  const { kafka } = parseConfig(process.env);
  if (kafka !== undefined) {
    const connection = readKafkaOptions(kafka);
    return { brokers: kafka.brokers.join(","), clear: (prefix) => clear(connection, prefix) };
  }
  onProgress("starting a Kafka broker");
  const libDir = fileURLToPath(assetUrl(LIB));
  const { brokers, pid } = open.use(
    await startBroker({ dir: join(folder, "kafka"), log: createLog({ level: "warn" }), libDir, onProgress }),
  );
  const connection = { brokers, clientId: "bench" };
  return { brokers: brokers.join(","), pid, clear: (prefix) => clear(connection, prefix) };
}

async function clear(connection: KafkaConnection, prefix: string): Promise<void> {
  const admin = createKafka(connection, createLog({ level: "warn" })).admin();
  const isOurs = (name: string) => name.startsWith(prefix);
  await admin.connect();
  try {
    await admin.deleteTopics({ topics: (await admin.listTopics()).filter(isOurs) });
    const { groups } = await admin.listGroups();
    await admin.deleteGroups(groups.map(({ groupId }) => groupId).filter(isOurs));
  } finally {
    await admin.disconnect();
  }
}
