import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Broker } from "./broker.js";
import { containerName, isDockerThere, startDockerBroker } from "./docker-broker.js";
import { startBroker } from "./start-broker.js";
import { type BrokerCluster, type BrokersOptions, startBrokers } from "./start-brokers.js";
import { parseConfig } from "../../deploy/config/config.js";
import { stopSignal } from "../../deploy/process/lifecycle.js";
import { createLog } from "../../deploy/process/log.js";
import { StartFailure } from "../../deploy/process/start-failure.js";

interface KafkaOptions {
  port: number;
  brokers: (typeof COUNTS)[number];
  docker?: true;
  java?: true;
}

type Way = "Docker" | "Java";

/** Two brokers would be worse than one: the cluster stands still while either is unavailable. */
const COUNTS = ["1", "3"] as const;

/** `kafka`: runs a broker, or three, for development below DATA_DIR until a signal. */
export function kafkaCommand(): Command {
  return new Command("kafka")
    .option("--port <port>", "the port on 127.0.0.1 to listen on, the first of three", parsePort, 9092)
    .addOption(
      new Option("--brokers <count>", "3: a cluster that loses one broker and goes on; with Java only")
        .choices(COUNTS)
        .default("1"),
    )
    .addOption(new Option("--docker", "only use Docker").conflicts("java"))
    .option("--java", "use Java and Maven even when Docker is available")
    .addHelpText("after", `\n${HOW_TO_USE}`)
    .action(runKafka);
}

const HOW_TO_USE = `In another terminal, with any DATA_DIR:
  KAFKA_BROKERS=127.0.0.1:9092 npm start

The brokers have no passwords: they are for development and tests. Of three, each has a copy of every record: kill one
(its process is printed), and imports go on.`;

async function runKafka(options: KafkaOptions): Promise<void> {
  const { dataDir, logLevel } = parseConfig({ LOG_LEVEL: "warn", ...process.env });
  const stopped = stopSignal();
  const way = await chooseWay(options);
  const at = { dir: join(dataDir, "kafka"), log: createLog({ level: logLevel }), onProgress };
  onProgress(`Starting Kafka with ${way} in ${at.dir} ...`);
  // A start or download that is interrupted here ends with this process.
  const started = await Promise.race([startWith(way, { ...at, ports: portsOf(options) }), stopped]);
  if (typeof started === "string") return;
  await using cluster = started;
  const { members } = cluster;
  process.stdout.write(greeting(members, { way, dir: at.dir }));
  if (members.length > 1) for (const member of members) void member.exited.then(sayThatOthersGoOn);
  const lost = Promise.all(members.map(({ exited }) => exited)).then(([first]) => first);
  const reason = await Promise.race([stopped, lost]);
  if (reason instanceof Error) throw reason;
  onProgress("Stopping Kafka.");
}

async function chooseWay({ docker, java, brokers }: KafkaOptions): Promise<Way> {
  if (docker && brokers !== "1")
    throw new StartFailure("--docker starts one broker: omit it, and Java starts three.");
  if (java || brokers !== "1") return "Java";
  if (await isDockerThere(process.env)) return "Docker";
  if (docker) throw new StartFailure("No Docker daemon answers: start it, or omit --docker.");
  return "Java";
}

function portsOf({ port, brokers }: KafkaOptions): number[] {
  return Array.from({ length: Number(brokers) }, (_, index) => port + index);
}

async function startWith(way: Way, { ports, ...at }: BrokersOptions): Promise<Members> {
  if (ports.length > 1) return startBrokers({ ...at, ports });
  const one = { ...at, port: ports[0] as number, onProgress };
  const broker = await (way === "Docker"
    ? startDockerBroker({ ...one, env: process.env })
    : startBroker(one));
  return { members: [broker], [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose]() };
}

type Members = Omit<BrokerCluster, "start">;

function sayThatOthersGoOn({ message }: Error): void {
  onProgress(`${message}\nThe other brokers go on. Start the command again to have all of them.`);
}

function greeting(members: readonly Broker[], { way, dir }: { way: Way; dir: string }): string {
  const address = members.flatMap(({ brokers }) => brokers).join(",");
  const data = way === "Docker" ? `the Docker volume ${containerName(dir)}` : dir;
  const processes = members.map(({ brokers, pid }) => `  ${brokers.join()}: process ${pid}\n`).join("");
  return `
Kafka listens on ${address}. In another terminal:
  KAFKA_BROKERS=${address} npm start
${members.length > 1 ? `\n${processes}` : ""}
Its data stays in ${data}. Ctrl-C stops it.
`;
}

function onProgress(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

/** Two more ports follow it. */
const PORT_MAX = 65_533;

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > PORT_MAX)
    throw new InvalidArgumentError(`It must be a port from 1 to ${PORT_MAX}.`);
  return port;
}
