import { join } from "node:path";
import type { Logger } from "pino";
import { onFreePort } from "../../deploy/process/free-port.js";
import { explainFileError } from "../../deploy/process/start-failure.js";
import { endOrphans } from "../../deploy/stores/embedded/find-servers.js";
import { assertFreePort } from "./assert-free-port.js";
import { awaitBroker } from "./await-broker.js";
import type { BrokerSettings } from "./broker-settings.js";
import { type Broker, type RunningBroker, openBroker } from "./broker.js";
import { KAFKA_VERSION, fetchBroker } from "./fetch-broker.js";
import { type Environment, findJava } from "./find-java.js";
import { type JavaBroker, type Quorum, formatStorage, spawnBroker } from "./java-broker.js";
import { lockBrokerFolder } from "./lock-broker-folder.js";

export interface BrokerOptions {
  /** The broker's own folder. Its data survives the broker. */
  dir: string;
  log: Logger;
  /** The port on 127.0.0.1; any free one when absent. */
  port?: number;
  /** Added to those of `brokerSettings`, or replacing them. */
  settings?: BrokerSettings;
  /** The folder for the downloaded broker; in `dir` when absent. */
  libDir?: string;
  /** Called with sentences about a download; by default they go to the log. */
  onProgress?: (sentence: string) => void;
  env?: Environment;
  /** For one broker of a cluster; see start-brokers.ts. */
  quorum?: Quorum;
}

// A clean shutdown first, then SIGKILL.
const STOP = [
  { signal: "SIGTERM", patienceMs: 10_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
] as const;

/**
 * Starts a broker with Java on the folder, after a download with Maven the first time. Resolves when the broker answers.
 * Throws StartFailure when Java or Maven is missing, the folder or port is in use, the disk is full, or the download
 * fails.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { log, port, settings = {}, env = process.env, quorum } = options;
  const { onProgress = (sentence) => log.info({ store: "Kafka" }, sentence) } = options;
  const folder = await lockBrokerFolder(options.dir);
  try {
    const dir = folder.path;
    const java = await findJava(env);
    const libDir = options.libDir ?? join(dir, `lib-${KAFKA_VERSION}`);
    await fetchBroker(libDir, { env, onProgress });
    await endOrphanBrokers(dir);
    const parts: JavaBroker = { dir, libDir, java, env, settings, quorum };
    if (port !== undefined) await assertFreePort(port);
    await formatStorage(parts);
    const start = (chosen: number) => startOnPort(parts, chosen, log);
    const running = port === undefined ? await onFreePort(start) : await start(port);
    return openBroker(running, folder);
  } catch (error) {
    folder[Symbol.dispose]();
    throw explainFileError(error, folder.path);
  }
}

/** A broker alone has its controller on any free port, which no client uses. */
function startOnPort(parts: JavaBroker, port: number, log: Logger): Promise<RunningBroker> {
  const onController = async (controllerPort: number) => {
    const child = await spawnBroker(parts, { port, controllerPort }, (line) => logLine(log, line));
    const address = `127.0.0.1:${port}`;
    try {
      await awaitBroker(child, { address, dir: parts.dir });
    } catch (error) {
      await child.end(STOP);
      throw error;
    }
    return { child, address, signals: STOP };
  };
  return parts.quorum === undefined ? onFreePort(onController) : onController(parts.quorum.controllerPort);
}

function endOrphanBrokers(dir: string): Promise<void> {
  return endOrphans(dir, {
    name: "Kafka",
    isServer: (commandLine) => /^(\S*\/)?java .*\bkafka\.(Kafka|tools\.StorageTool)\b/.test(commandLine),
    signals: STOP,
  });
}

function logLine(log: Logger, line: string): void {
  if (/^(FATAL|ERROR):/.test(line)) log.warn({ store: "Kafka" }, line);
  else log.debug({ store: "Kafka" }, line);
}
