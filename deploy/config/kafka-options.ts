/** The brokers and how to connect to them. */
export interface KafkaConnection {
  /** `host:port` each. */
  brokers: readonly string[];
  clientId: string;
  /** `ca` is a PEM certificate; without it the system's authorities decide. */
  tls?: { ca?: string };
  sasl?: { mechanism: SaslMechanism; username: string; password: string };
}

export const SASL_MECHANISMS = ["plain", "scram-sha-256", "scram-sha-512"] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

/** After this time without a heartbeat, Kafka gives the partitions of a consumer to others. */
export const SESSION_TIMEOUT_MS = 30_000;

/** The event log on Kafka. */
export interface KafkaLogOptions extends KafkaConnection {
  /** Starts the names of topics and groups. */
  prefix: string;
  /** Partitions of the topic, when it is created. */
  partitions: number;
  replicationFactor?: number;
  /** Whether a missing topic may be created. */
  createTopics: boolean;
  sessionTimeoutMs?: number;
}
