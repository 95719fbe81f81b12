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

/** `kafka`: a broker for developers, below DATA_DIR, until a signal. */
export function kafkaCommand(): Command {
  return new Command("kafka")
    .option("--port <port>", "of 127.0.0.1, where it listens", parsePort, 9092)
    .addOption(new Option("--docker", "in Docker, and not otherwise").conflicts("java"))
    .option("--java", "with Java and Maven, also when Docker is there")
    .addHelpText("after", `\n${HOW_TO_USE}`)
    .action(runKafka);
}

const HOW_TO_USE = `In another terminal, with the same DATA_DIR or another:
  KAFKA_BROKERS=127.0.0.1:9092 npm start

The broker has no passwords and no second copy of its data: it is for development and tests.`;

async function runKafka(options: KafkaOptions): Promise<void> {
  const { dataDir, logLevel } = parseConfig({ LOG_LEVEL: "warn", ...process.env });
  const stopped = stopSignal();
  const way = await chooseWay(options);
  const at = { dir: join(dataDir, "kafka"), port: options.port, log: createLog({ level: logLevel }), tell };
  tell(`Starting Kafka with ${way} in ${at.dir} ...`);
  const starting = way === "Docker" ? startDockerBroker({ ...at, env: process.env }) : startBroker(at);
  // What is stopped before it is up, a download too, ends with this process.
  const started = await Promise.race([starting, stopped]);
  if (typeof started === "string") return;
  await using broker = started;
  process.stdout.write(greeting(broker, { way, dir: at.dir }));
  const reason = await Promise.race([stopped, broker.exited]);
  if (reason instanceof Error) throw reason;
  tell("Stopping Kafka.");
}

async function chooseWay({ docker, java }: KafkaOptions): Promise<Way> {
  if (java) return "Java";
  if (await isDockerThere(process.env)) return "Docker";
  if (docker) throw new StartFailure("No Docker daemon answers: start it, or leave --docker out.");
  return "Java";
}

function greeting({ brokers }: Broker, { way, dir }: { way: Way; dir: string }): string {
  const address = brokers.join(",");
  const data = way === "Docker" ? `Docker's volume ${containerName(dir)}` : dir;
  return `
Kafka listens on ${address}. In another terminal:
  KAFKA_BROKERS=${address} npm start

Its data stays in ${data}. Ctrl-C ends it.
`;
}

function tell(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError("It must be a port from 1 to 65535.");
  return port;
}
