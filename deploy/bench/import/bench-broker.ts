import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assetUrl } from "../../../schemas/asset.js";
import { KAFKA_VERSION } from "../../broker/fetch-broker.js";
import { startBroker } from "../../broker/start-broker.js";
import { parseConfig } from "../../config/config.js";
import type { ClosingStack } from "../../process/closing-stack.js";
import { createLog } from "../../process/log.js";
import type { KafkaConnection } from "../../config/kafka-options.js";
import { createKafka } from "../../stores/kafka/kafka-client.js";
import { readKafkaOptions } from "../../stores/open-event-log.js";

export interface BenchBroker {
  /** As in KAFKA_BROKERS. */
  brokers: string;
  /** Of a broker that was started here. */
  pid?: number;
  /** Deletes the topics and groups whose names begin so. */
  clear(prefix: string): Promise<void>;
}

// Where the tests keep theirs: the download is paid once for a clone.
const LIB = `node_modules/.cache/maintainer-toolchain/kafka-${KAFKA_VERSION}`;

/** The cluster of KAFKA_BROKERS; without it, a broker of Java in the folder until `open` is closed. */
export async function openBenchBroker({
  folder,
  open,
  tell,
}: {
  folder: string;
  open: ClosingStack;
  tell: (sentence: string) => void;
}): Promise<BenchBroker> {
  const { kafka } = parseConfig(process.env);
  if (kafka !== undefined) {
    const connection = await readKafkaOptions(kafka);
    return { brokers: kafka.brokers.join(","), clear: (prefix) => clear(connection, prefix) };
  }
  tell("starting a Kafka broker");
  const libDir = fileURLToPath(assetUrl(LIB));
  const { brokers, pid } = open.use(
    await startBroker({ dir: join(folder, "kafka"), log: createLog({ level: "warn" }), libDir, tell }),
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
