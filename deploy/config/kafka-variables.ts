import { SASL_MECHANISMS, SESSION_TIMEOUT_MS } from "./kafka-options.js";
import type { VariableSchema } from "./variable-schema.js";

const NAME = {
  type: "string",
  format: "name",
  mustBe: "letters, digits, dots, hyphens and underscores",
} as const;
const SWITCH = { type: "string", enum: ["true", "false"], mustBe: "true or false" } as const;

/** The event log on Kafka. Each counts only together with `KAFKA_BROKERS`. */
export const KAFKA_VARIABLES = {
  KAFKA_BROKERS: {
    type: "string",
    format: "brokers",
    mustBe: "host:port pairs separated by commas",
    unset: "the event log is embedded, in `DATA_DIR`",
    meaning: "The brokers of a Kafka cluster for the event log.",
  },
  KAFKA_CLIENT_ID: {
    ...NAME,
    default: "maintainer-toolchain",
    meaning: "The name by which brokers know the program in their logs and quotas.",
  },
  KAFKA_TOPIC_PREFIX: {
    ...NAME,
    unset: "no prefix",
    meaning: "Comes before the names of the topic (`events.raw`) and of the consumer group (`enrich`).",
  },
  KAFKA_CREATE_TOPICS: {
    ...SWITCH,
    default: "true",
    meaning: "Whether the program creates a missing topic.",
  },
  KAFKA_PARTITIONS: {
    type: "string",
    format: "partitions",
    mustBe: "a whole number from 1 to 10000",
    default: "24",
    meaning: "Partitions of the topic when the program creates it.",
  },
  KAFKA_REPLICATION_FACTOR: {
    type: "string",
    format: "replicas",
    mustBe: "a whole number from 1 to 100",
    unset: "3 where there are three brokers or more, else the default of the brokers",
    meaning:
      "Copies of each partition when the program creates the topic; from 2 on, two of them must be written (`min.insync.replicas`). A topic that exists keeps its copies: a start warns of too few.",
  },
  KAFKA_SESSION_TIMEOUT_MS: {
    type: "string",
    format: "session",
    mustBe: "a whole number of milliseconds from 1000 to 300000",
    default: `${SESSION_TIMEOUT_MS}`,
    meaning:
      "An enricher that is silent for longer, or was killed, loses its partitions to the others after this time.",
  },
  KAFKA_TLS: { ...SWITCH, default: "false", meaning: "Whether connections to the brokers are encrypted." },
  KAFKA_TLS_CA: {
    type: "string",
    format: "text",
    mustBe: "the path of a file",
    unset: "the authorities of the system",
    meaning: "A PEM file of the authorities that certificates of brokers are checked against. Turns TLS on.",
  },
  KAFKA_SASL_MECHANISM: {
    type: "string",
    enum: SASL_MECHANISMS,
    mustBe: `one of ${SASL_MECHANISMS.join(", ")}`,
    unset: "no authentication",
    meaning: "How the program authenticates to the brokers. Needs the user name and the password.",
  },
  KAFKA_SASL_USERNAME: {
    type: "string",
    format: "text",
    mustBe: "a user name",
    unset: "none",
    meaning: "The user name for SASL.",
  },
  KAFKA_SASL_PASSWORD: {
    type: "string",
    format: "password",
    mustBe: "a password",
    unset: "none",
    meaning: "The password for SASL.",
  },
} as const satisfies Record<string, VariableSchema>;
