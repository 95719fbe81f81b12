/** `server.properties` of Kafka: https://kafka.apache.org/documentation/#brokerconfigs */
export type BrokerSettings = Readonly<Record<string, string | number | boolean>>;

export interface BrokerPlace {
  /** Where clients find it, on 127.0.0.1. */
  port: number;
  /** Where the broker finds its controller, which is itself, on 127.0.0.1. */
  controllerPort: number;
  logDir: string;
  /** The interface that it listens on; 127.0.0.1 unless it is in a container. */
  host?: string;
}

/** A broker that is its own controller, alone, and answers soon after its start. */
export function brokerSettings(place: BrokerPlace): BrokerSettings {
  const { port, controllerPort, logDir, host = "127.0.0.1" } = place;
  return {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "log.dirs": logDir,
    // A topic with a misspelt name, or with the broker's defaults, must not come into being by a read.
    "auto.create.topics.enable": false,
    // There is no second broker to copy to.
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    // Fewer internal partitions to make, and nobody to wait for before the first member of a group has its share.
    "offsets.topic.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
    // Of an enricher that was killed the partitions are free again after its session: by default 6 s at the least.
    "group.min.session.timeout.ms": 1_000,
    // After a crash the controller lets the broker in again only when the session of the one that died is over: with
    // the default of 9 s a start took 11.7 s, with this 4 s.
    "broker.session.timeout.ms": 2_000,
    "broker.heartbeat.interval.ms": 400,
    // The default of 128 MiB was most of the memory of an idle broker.
    "log.cleaner.dedupe.buffer.size": 8 * 1024 ** 2,
  };
}

/** As the text of a properties file, whose escape character is the backslash. */
export function propertiesText(settings: BrokerSettings): string {
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name}=${String(value).replaceAll("\\", "\\\\")}`,
  );
  return `${lines.join("\n")}\n`;
}

/** As variables for the Docker image apache/kafka, which writes dots as underscores. */
export function settingsEnvironment(settings: BrokerSettings): Record<string, string> {
  const escaped = (name: string) =>
    name.replaceAll("_", "__").replaceAll("-", "___").replaceAll(".", "_").toUpperCase();
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`KAFKA_${escaped(name)}`, String(value)]),
  );
}
