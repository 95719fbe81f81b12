import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import type { EventLog, LagReader } from "../../schemas/records/event-log.js";
import type { KafkaConfig } from "../config/config.js";
import { openEmbeddedLog } from "./embedded/event-log/event-log.js";
import type { KafkaLogOptions } from "../config/kafka-options.js";
import { openKafkaLog, type KafkaLogWatch } from "./kafka/event-log.js";
import { StartFailure } from "../process/start-failure.js";

/** Which event log it is, in a form that can be handed to a thread. */
export type EventLogSource = { dir: string } | { kafka: KafkaConfig };

/** Throws StartFailure when it cannot be opened. The embedded log keeps every record until it is read: it tells nothing. */
export async function openEventLog(
  source: EventLogSource,
  log: Logger,
  watch: KafkaLogWatch = {},
): Promise<EventLog & LagReader> {
  if ("dir" in source) return openEmbeddedLog({ dir: source.dir });
  return openKafkaLog(await readKafkaOptions(source.kafka), log, watch);
}

/** The configuration with the authorities that it names. */
export async function readKafkaOptions({ tls, ...options }: KafkaConfig): Promise<KafkaLogOptions> {
  const { caFile } = tls ?? {};
  const ca = caFile === undefined ? {} : { ca: await readAuthorities(caFile) };
  return { ...options, ...(tls && { tls: ca }) };
}

async function readAuthorities(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFailure(`The file of KAFKA_TLS_CA cannot be read: ${reason}`, { cause: error });
  }
}
