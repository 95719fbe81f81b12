/** The `server.properties` of Kafka: https://kafka.apache.org/documentation/#brokerconfigs */
export type BrokerSettings = Readonly<Record<string, string | number | boolean>>;

export interface BrokerAddress {
  /** The port for clients, on 127.0.0.1. */
  port: number;
  /** The port of its controller, which is the broker itself, on 127.0.0.1. */
  controllerPort: number;
  logDir: string;
  /** The interface to listen on; 127.0.0.1 outside of a container. */
  host?: string;
  /** The controller ports of all brokers of its cluster, in the order of their ids. Absent for a broker alone. */
  quorum?: readonly number[];
}

/** Settings of a broker that is a controller as well and starts fast. */
export function brokerSettings(address: BrokerAddress): BrokerSettings {
  const { port, controllerPort, logDir, host = "127.0.0.1", quorum = [controllerPort] } = address;
  const copies = Math.min(quorum.length, COPIES_MAX);
  const inSync = Math.ceil((copies + 1) / 2);
  return {
    "process.roles": "broker,controller",
    "node.id": quorum.indexOf(controllerPort) + 1,
    "controller.quorum.voters": quorum.map((voter, index) => `${index + 1}@127.0.0.1:${voter}`).join(","),
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "log.dirs": logDir,
    // A read must not create a topic with a misspelt name or with the broker's defaults.
    "auto.create.topics.enable": false,
    "min.insync.replicas": inSync,
    "offsets.topic.replication.factor": copies,
    "transaction.state.log.replication.factor": copies,
    "transaction.state.log.min.isr": inSync,
    "share.coordinator.state.topic.replication.factor": copies,
    "share.coordinator.state.topic.min.isr": inSync,
    // Faster start: fewer internal partitions, and no wait for more members of a group.
    "offsets.topic.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
    // The partitions of a killed enricher are free after its session timeout, which is 6 s or more by default.
    "group.min.session.timeout.ms": 1_000,
    // After a crash, the controller admits the broker only when its last session has expired. With the default of 9 s,
    // a start took 11.7 s; with this, 4 s.
    "broker.session.timeout.ms": 2_000,
    "broker.heartbeat.interval.ms": 400,
    // The default of 128 MiB was most of the memory of an idle broker.
    "log.cleaner.dedupe.buffer.size": 8 * 1024 ** 2,
  };
}

/** More brokers than three hold more partitions, not more copies. */
const COPIES_MAX = 3;

/** Formats the text of a properties file, where a backslash is escaped. */
export function propertiesText(settings: BrokerSettings): string {
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name}=${String(value).replaceAll("\\", "\\\\")}`,
  );
  return `${lines.join("\n")}\n`;
}

/** Formats environment variables for the Docker image apache/kafka, which maps underscores to dots. */
export function settingsEnvironment(settings: BrokerSettings): Record<string, string> {
  const escaped = (name: string) =>
    name.replaceAll("_", "__").replaceAll("-", "___").replaceAll(".", "_").toUpperCase();
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`KAFKA_${escaped(name)}`, String(value)]),
  );
}
