import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import type { Broker } from "../broker.js";
import type { BrokerSettings } from "../broker-settings.js";
import { KAFKA_VERSION } from "../fetch-broker.js";
import { startBroker } from "../start-broker.js";
import { startBrokers } from "../start-brokers.js";
import { onFreePorts } from "../../../deploy/process/free-port.js";
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
  const removeDir = () => rm(dir, { recursive: true, force: true });
  const start = (port?: number) =>
    startBroker({ dir, log, settings, libDir: BROKER_LIB, ...(port !== undefined && { port }) });
  const first = await start().catch(async (error: unknown) => {
    await removeDir();
    throw error;
  });
  const port = Number(first.brokers[0]?.split(":").at(-1));
  const broker = harmable(first, () => start(port));
  const close = async () => {
    await broker.end();
    await removeDir();
  };
  return Object.assign(broker, { [Symbol.asyncDispose]: close });
}

/** Brokers of one cluster, each of which can be harmed. */
export interface JavaTestCluster extends TestBroker {
  readonly members: readonly JavaTestBroker[];
}

/** A new cluster of three brokers of Java on a temporary folder. */
export async function openJavaCluster({
  settings = {},
}: { settings?: BrokerSettings } = {}): Promise<JavaTestCluster> {
  const dir = await mkdtemp(join(tmpdir(), "kafka-cluster-"));
  const removeDir = () => rm(dir, { recursive: true, force: true });
  const cluster = await onFreePorts(3, (ports) =>
    startBrokers({ dir, ports, log, settings, libDir: BROKER_LIB }),
  ).catch(async (error: unknown) => {
    await removeDir();
    throw error;
  });
  const members = cluster.members.map((member, index) => harmable(member, () => cluster.start(index)));
  return {
    brokers: cluster.members.flatMap((member) => member.brokers),
    members: members.map((member) => Object.assign(member, { [Symbol.asyncDispose]: member.end })),
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member.end()));
      await cluster[Symbol.asyncDispose]();
      await removeDir();
    },
  };
}

/** `start` starts it again, on the same port and data. */
function harmable(started: Broker, start: () => Promise<Broker>) {
  let current = started;
  let open = true;
  const end = async () => {
    if (!open) return;
    open = false;
    current.kill("SIGCONT"); // a frozen one would not hear that it is to end
    await current[Symbol.asyncDispose]();
  };
  return {
    brokers: started.brokers,
    get pid() {
      return current.pid;
    },
    async kill(signal: NodeJS.Signals) {
      current.kill(signal);
      await current.exited;
    },
    freeze: () => current.kill("SIGSTOP"),
    continue: () => current.kill("SIGCONT"),
    async restart() {
      await end();
      current = await start();
      open = true;
    },
    end,
  };
}
