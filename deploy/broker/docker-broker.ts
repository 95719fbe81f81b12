import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { StartFailure } from "../process/start-failure.js";
import { assertFreePort } from "./assert-free-port.js";
import { awaitBroker } from "./await-broker.js";
import { brokerSettings, settingsEnvironment } from "./broker-settings.js";
import { openBroker, type Broker } from "./broker.js";
import { KAFKA_VERSION } from "./fetch-broker.js";
import type { Environment } from "./find-java.js";
import { lockBrokerFolder } from "./lock-broker-folder.js";
import { spawnWatched } from "./spawn-watched.js";

export interface DockerOptions {
  /** The folder whose broker this is; the data itself is in a volume of Docker's. */
  dir: string;
  port: number;
  log: Logger;
  tell: (sentence: string) => void;
  env: Environment;
}

/** The same release as the one that Java runs. */
export const KAFKA_IMAGE = `apache/kafka:${KAFKA_VERSION}`;

const DAEMON_ANSWERS_MS = 5_000;
const PULL_MS_MAX = 600_000;
// `docker run` hands SIGTERM on to the container, and ends with it.
const STOP = [
  { signal: "SIGTERM", patienceMs: 20_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
] as const;

/** Starts a broker in a container that goes when this process does, and resolves when it answers. */
export async function startDockerBroker(options: DockerOptions): Promise<Broker> {
  const { port, log, env } = options;
  const folder = await lockBrokerFolder(options.dir);
  const dir = folder.path;
  try {
    await makeRoom(options, dir);
    const command = ["docker", ...runArguments({ name: containerName(dir), port })];
    const onLine = (line: string) => log.debug({ store: "Kafka" }, line);
    const address = `127.0.0.1:${port}`;
    const child = await spawnWatched({ command, cwd: dir, env, onLine });
    try {
      await awaitBroker(child, { address, dir });
    } catch (error) {
      await child.end(STOP);
      throw error;
    }
    return openBroker({ child, address, signals: STOP }, folder);
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

/** Whether a Docker daemon answers; a client alone starts nothing. */
export async function isDockerThere(env: Environment): Promise<boolean> {
  const asked = docker(["version", "--format", "{{.Server.Version}}"], env, DAEMON_ANSWERS_MS);
  return asked.then(
    () => true,
    () => false,
  );
}

/** The port is the same inside: the broker also finds itself by the address that it tells its clients. */
export function dockerEnvironment(port: number): Record<string, string> {
  const controllerPort = port === 9093 ? 9094 : 9093;
  const place = { port, controllerPort, logDir: "/var/lib/kafka/data", host: "0.0.0.0" };
  return { ...settingsEnvironment(brokerSettings(place)), KAFKA_HEAP_OPTS: "-Xmx512m" };
}

/** A volume, not a folder of ours: the user inside the container could not write to that. */
export function runArguments({ name, port }: { name: string; port: number }): string[] {
  const environment = Object.entries(dockerEnvironment(port)).map(([key, value]) => `--env=${key}=${value}`);
  return [
    "run",
    "--rm",
    `--name=${name}`,
    `--publish=127.0.0.1:${port}:${port}`,
    `--volume=${name}:/var/lib/kafka/data`,
    ...environment,
    KAFKA_IMAGE,
  ];
}

/** Of the container and of its volume; another for each folder. */
export function containerName(dir: string): string {
  return `maintainer-toolchain-kafka-${createHash("sha256").update(dir).digest("hex").slice(0, 12)}`;
}

/** The image is here, the port is free, and no container of an earlier run of this folder is left. */
async function makeRoom({ port, tell, env }: DockerOptions, dir: string): Promise<void> {
  await docker(["rm", "--force", containerName(dir)], env, DAEMON_ANSWERS_MS * 4).catch(() => undefined);
  await assertFreePort(port);
  try {
    await docker(["image", "inspect", KAFKA_IMAGE], env, DAEMON_ANSWERS_MS);
  } catch {
    tell(`Downloading ${KAFKA_IMAGE} with Docker, once.`);
    await pull(env);
  }
}

async function pull(env: Environment): Promise<void> {
  try {
    await docker(["pull", "--quiet", KAFKA_IMAGE], env, PULL_MS_MAX);
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    throw new StartFailure(
      `Docker could not download ${KAFKA_IMAGE}: see that it reaches its registry, or use --java. It said:\n${stderr}`,
      { cause },
    );
  }
}

function docker(args: readonly string[], env: Environment, timeout: number): Promise<unknown> {
  return promisify(execFile)("docker", args, { env, timeout });
}
