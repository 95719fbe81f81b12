import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import type { Broker } from "../../../deploy/broker/broker.js";
import type { BrokerSettings } from "../../../deploy/broker/broker-settings.js";
import { KAFKA_VERSION } from "../../../deploy/broker/fetch-broker.js";
import { startBroker } from "../../../deploy/broker/start-broker.js";
import type { TestBroker } from "./test-broker.js";

/** A broker in a process of ours, to be harmed; its port and its data stay the same over every `restart`. */
export interface JavaTestBroker extends TestBroker {
  /** The process that runs now, or ran last. */
  readonly pid: number;
  /** Resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  freeze(): void;
  continue(): void;
  /** Ends the process, if it runs, cleanly, and starts another, which answers when this resolves. */
  restart(): Promise<void>;
}

/** Beside the other caches of tools: the download is paid once for a clone, not once for a test file. */
export const BROKER_LIB = fileURLToPath(
  new URL(`../../../node_modules/.cache/maintainer-toolchain/kafka-${KAFKA_VERSION}`, import.meta.url),
);

const log = pino({ level: "silent" });

/** A new broker of Java on a temporary folder. `settings` are Kafka's, besides ours. */
export async function openJavaBroker({
  settings = {},
}: { settings?: BrokerSettings } = {}): Promise<JavaTestBroker> {
  const dir = await mkdtemp(join(tmpdir(), "kafka-broker-"));
  const start = (port?: number) =>
    startBroker({ dir, log, settings, libDir: BROKER_LIB, ...(port !== undefined && { port }) });
  let current: Broker;
  try {
    current = await start();
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
  const brokers = current.brokers;
  const port = Number(brokers[0]?.split(":").at(-1));
  let open = true;
  const end = async () => {
    if (!open) return;
    open = false;
    current.kill("SIGCONT"); // a frozen one would not hear that it is to end
    await current[Symbol.asyncDispose]();
  };
  return {
    brokers,
    get pid() {
      return current.pid;
    },
    async kill(signal) {
      current.kill(signal);
      await current.exited;
    },
    freeze: () => current.kill("SIGSTOP"),
    continue: () => current.kill("SIGCONT"),
    async restart() {
      await end();
      current = await start(port);
      open = true;
    },
    async [Symbol.asyncDispose]() {
      await end();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
