import { Kafka, type KafkaConfig, type LogEntry, logLevel } from "kafkajs";
import type { Logger } from "pino";
import { settlesWithin } from "../../../schemas/async/pause.js";
import type { KafkaConfig as Configured } from "../../config/config.js";
import type { TlsOptions } from "../../process/tls-files.js";

export interface KafkaConnection extends Pick<Configured, "brokers" | "clientId"> {
  tls?: TlsOptions | undefined;
  sasl?: Configured["sasl"];
}

/**
 * A client that tries for about half a minute before it gives a request up: a broker that restarts is back by then.
 */
export function createKafka({ brokers, clientId, tls, sasl }: KafkaConnection, log: Logger): Kafka {
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(tls && { ssl: { ...tls } }),
    // A copy: kafkajs writes a function into it, and with that the caller's could not be handed to a thread any more.
    ...(sasl && { sasl: { ...sasl } as NonNullable<KafkaConfig["sasl"]> }),
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: { initialRetryTime: 100, maxRetryTime: 3_000, retries: 12 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => passOn(entry, log),
  });
}

/** Most errors in the log of kafkajs are requests that it retries; only deleted records are an error here. */
export function passOn({ level, namespace, log: said }: LogEntry, log: Logger): void {
  const { message, error, topic, partition } = said as SaidByKafkajs;
  const words = {
    store: "Kafka",
    namespace,
    ...(topic !== undefined && { topic }),
    ...(partition !== undefined && { partition }),
    ...(typeof error === "string" && { error }),
  };
  log[levelOf(level, `${message} ${words.error ?? ""}`)](words, message);
}

interface SaidByKafkajs {
  message: string;
  error?: unknown;
  topic?: string;
  partition?: number;
}

/** Said whenever a process starts or ends, and of the retries that this client limits on purpose. */
const CHATTER =
  /group is rebalancing|^Response Heartbeat|coordinator is loading|Limiting retries for the idempotent producer/;
const RECORDS_GONE = /^Offset out of range/;

function levelOf(level: logLevel, text: string): "debug" | "warn" | "error" {
  if (level > logLevel.WARN || CHATTER.test(text)) return "debug";
  return level === logLevel.ERROR && RECORDS_GONE.test(text) ? "error" : "warn";
}

/** Longer than an available broker takes. Requests to an unavailable one are retried for half a minute. */
const PATIENCE_MS = 3_000;

interface Client {
  disconnect(): Promise<void>;
}

/**
 * For 3 s at the most, and never throws: only for clients that have nothing under way. A broker that misses
 * it ends the session after its timeout.
 */
export async function disconnect(client: Client): Promise<void> {
  await settlesWithin(
    client.disconnect().catch(() => undefined),
    PATIENCE_MS,
  );
}
