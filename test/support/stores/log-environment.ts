import { randomUUID } from "node:crypto";
import type { ProcessEnvironment } from "../program/toolchain-process.js";

/** The broker of a run, in a form that can be handed to the processes of tests. */
export interface SuiteBroker {
  brokers: readonly string[];
  /** A program that was killed holds its partitions for as long. */
  sessionTimeoutMs: number;
}

const VARIABLE = "TEST_SUITE_BROKER";
/** More than a program has workers. */
const PARTITIONS = 4;

/** From here on this process starts programs on the broker. */
export function useSuiteBroker(broker: SuiteBroker): void {
  process.env[VARIABLE] = JSON.stringify(broker);
}

/** The variables of a program's event log: a topic of its own on the suite's broker; none for the embedded log. */
export function logEnvironment(): ProcessEnvironment {
  const given = process.env[VARIABLE];
  if (given === undefined) return {};
  const { brokers, sessionTimeoutMs } = JSON.parse(given) as SuiteBroker;
  return {
    KAFKA_BROKERS: brokers.join(","),
    KAFKA_TOPIC_PREFIX: `${randomUUID()}.`,
    KAFKA_PARTITIONS: String(PARTITIONS),
    KAFKA_SESSION_TIMEOUT_MS: String(sessionTimeoutMs),
  };
}
