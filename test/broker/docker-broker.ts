import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { StartFailure } from "../../deploy/process/start-failure.js";
import { assertFreePort } from "./assert-free-port.js";
import { awaitBroker } from "./await-broker.js";
import { brokerSettings, settingsEnvironment } from "./broker-settings.js";
import { openBroker, type Broker } from "./broker.js";
import { KAFKA_VERSION } from "./fetch-broker.js";
import type { Environment } from "./find-java.js";
import { newClusterId } from "./java-broker.js";
import { lockBrokerFolder } from "./lock-broker-folder.js";
import { spawnWatched } from "./spawn-watched.js";

export interface DockerOptions {
  /** The folder that identifies the broker. Its data is in a Docker volume. */
  dir: string;
  port: number;
  log: Logger;
  onProgress: (sentence: string) => void;
  env: Environment;
}

/** The same release as with Java. */
export const KAFKA_IMAGE = `apache/kafka:${KAFKA_VERSION}`;

const DAEMON_ANSWERS_MS = 5_000;
const PULL_MS_MAX = 600_000;
// `docker run` passes SIGTERM on to the container and ends with it.
const STOP = [
  { signal: "SIGTERM", patienceMs: 20_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
] as const;

/** Starts a broker in a container that is removed when this process ends. Resolves when the broker answers. */
export async function startDockerBroker(options: DockerOptions): Promise<Broker> {
  const { port, log, env } = options;
  const folder = await lockBrokerFolder(options.dir);
  const dir = folder.path;
  try {
    await prepareDocker(options, dir);
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

/** Whether a Docker daemon answers. A client alone is not enough. */
export async function isDockerThere(env: Environment): Promise<boolean> {
  const answer = docker(["version", "--format", "{{.Server.Version}}"], env, DAEMON_ANSWERS_MS);
  return answer.then(
    () => true,
    () => false,
  );
}

/** The port is the same inside the container, because the broker also uses the address that clients get. */
export function dockerEnvironment(port: number): Record<string, string> {
  const controllerPort = port === 9093 ? 9094 : 9093;
  const address = { port, controllerPort, logDir: "/var/lib/kafka/data", host: "0.0.0.0" };
  // Counts at the first start on a volume alone. The image's own is the same everywhere, and the id of a log is part of what
  // makes a replayed insert recognisable.
  const CLUSTER_ID = newClusterId();
  return { ...settingsEnvironment(brokerSettings(address)), CLUSTER_ID, KAFKA_HEAP_OPTS: "-Xmx512m" };
}

/** Uses a volume, because the user inside the container could not write to a folder of this user. */
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

/** The name of the container and of its volume, unique for each folder. */
export function containerName(dir: string): string {
  return `maintainer-toolchain-kafka-${createHash("sha256").update(dir).digest("hex").slice(0, 12)}`;
}

/** Removes the container of an earlier run, requires a free port, and downloads the image when missing. */
async function prepareDocker({ port, onProgress, env }: DockerOptions, dir: string): Promise<void> {
  await docker(["rm", "--force", containerName(dir)], env, DAEMON_ANSWERS_MS * 4).catch(() => undefined);
  await assertFreePort(port);
  try {
    await docker(["image", "inspect", KAFKA_IMAGE], env, DAEMON_ANSWERS_MS);
  } catch {
    onProgress(`Downloading ${KAFKA_IMAGE} with Docker, once.`);
    await pull(env);
  }
}

async function pull(env: Environment): Promise<void> {
  try {
    await docker(["pull", "--quiet", KAFKA_IMAGE], env, PULL_MS_MAX);
  } catch (cause) {
    const { stderr = "" } = cause as { stderr?: string };
    throw new StartFailure(
      `Docker could not download ${KAFKA_IMAGE}: check that it can reach its registry, or use --java. Its output:\n${stderr}`,
      { cause },
    );
  }
}

function docker(args: readonly string[], env: Environment, timeout: number): Promise<unknown> {
  return promisify(execFile)("docker", args, { env, timeout });
}
