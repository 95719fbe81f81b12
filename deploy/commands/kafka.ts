import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Broker } from "../broker/broker.js";
import { containerName, isDockerThere, startDockerBroker } from "../broker/docker-broker.js";
import { startBroker } from "../broker/start-broker.js";
import { parseConfig } from "../config/config.js";
import { stopSignal } from "../process/lifecycle.js";
import { createLog } from "../process/log.js";
import { StartFailure } from "../process/start-failure.js";

interface KafkaOptions {
  port: number;
  docker?: true;
  java?: true;
}

type Way = "Docker" | "Java";

/** `kafka`: runs a broker for development below DATA_DIR until a signal. */
export function kafkaCommand(): Command {
  return new Command("kafka")
    .option("--port <port>", "the port on 127.0.0.1 to listen on", parsePort, 9092)
    .addOption(new Option("--docker", "only use Docker").conflicts("java"))
    .option("--java", "use Java and Maven even when Docker is available")
    .addHelpText("after", `\n${HOW_TO_USE}`)
    .action(runKafka);
}

const HOW_TO_USE = `In another terminal, with any DATA_DIR:
  KAFKA_BROKERS=127.0.0.1:9092 npm start

The broker has no passwords and no replicas: it is for development and tests.`;

async function runKafka(options: KafkaOptions): Promise<void> {
  const { dataDir, logLevel } = parseConfig({ LOG_LEVEL: "warn", ...process.env });
  const stopped = stopSignal();
  const way = await chooseWay(options);
  const at = {
    dir: join(dataDir, "kafka"),
    port: options.port,
    log: createLog({ level: logLevel }),
    onProgress,
  };
  onProgress(`Starting Kafka with ${way} in ${at.dir} ...`);
  const starting = way === "Docker" ? startDockerBroker({ ...at, env: process.env }) : startBroker(at);
  // A start or download that is interrupted here ends with this process.
  const started = await Promise.race([starting, stopped]);
  if (typeof started === "string") return;
  await using broker = started;
  process.stdout.write(greeting(broker, { way, dir: at.dir }));
  const reason = await Promise.race([stopped, broker.exited]);
  if (reason instanceof Error) throw reason;
  onProgress("Stopping Kafka.");
}

async function chooseWay({ docker, java }: KafkaOptions): Promise<Way> {
  if (java) return "Java";
  if (await isDockerThere(process.env)) return "Docker";
  if (docker) throw new StartFailure("No Docker daemon answers: start it, or omit --docker.");
  return "Java";
}

function greeting({ brokers }: Broker, { way, dir }: { way: Way; dir: string }): string {
  const address = brokers.join(",");
  const data = way === "Docker" ? `the Docker volume ${containerName(dir)}` : dir;
  return `
Kafka listens on ${address}. In another terminal:
  KAFKA_BROKERS=${address} npm start

Its data stays in ${data}. Ctrl-C stops it.
`;
}

function onProgress(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError("It must be a port from 1 to 65535.");
  return port;
}
