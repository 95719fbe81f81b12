import type { Logger } from "pino";
import type { Postgres } from "../../api/base/postgres/query.js";
import { readRemovedBefore } from "../../api/base/postgres/removed-events.js";
import type { EventRetention } from "../../schemas/event-retention.js";
import type { EventLog, LagReader } from "../../schemas/records/event-log.js";
import type { KafkaConfig } from "../config/config.js";
import { readTls } from "../process/tls-files.js";
import { openEmbeddedLog } from "./embedded/event-log/event-log.js";
import type { KafkaLogListeners, KafkaLogOptions } from "./kafka/event-log.js";

/** Selects the event log, in a form that can be sent to a thread. */
export type EventLogSource = { dir: string } | { kafka: KafkaConfig };

/** Throws StartFailure. The embedded log calls no listener, as it keeps every record until it is read. */
export async function openEventLog(
  source: EventLogSource,
  log: Logger,
  listeners: KafkaLogListeners = {},
): Promise<EventLog & LagReader> {
  if ("dir" in source) return openEmbeddedLog({ dir: source.dir });
  // kafkajs takes each thread of the program some 60 ms to load.
  const { openKafkaLog } = await import("./kafka/event-log.js");
  return openKafkaLog(readKafkaOptions(source.kafka), log, listeners);
}

/** With the contents of its files. */
export function readKafkaOptions({ tls, ...options }: KafkaConfig): KafkaLogOptions {
  return { ...options, ...(tls && { tls: readTls(tls) }) };
}

/** Days that were closed under a shorter retention stay closed. */
export async function readEventRetention(pg: Postgres, days: number | undefined): Promise<EventRetention> {
  return { days, removedBefore: await readRemovedBefore(pg) };
}
