import { join } from "node:path";
import { loadSecretFile } from "../../deploy/process/private-files.js";
import { onFreePorts } from "../../deploy/process/free-port.js";
import { assertFreePort } from "./assert-free-port.js";
import type { Broker } from "./broker.js";
import { KAFKA_VERSION, fetchBroker } from "./fetch-broker.js";
import { type Quorum, newClusterId } from "./java-broker.js";
import { type BrokerFolder, lockBrokerFolder } from "./lock-broker-folder.js";
import { type BrokerOptions, startBroker } from "./start-broker.js";

export interface BrokersOptions extends Omit<BrokerOptions, "port" | "quorum"> {
  /** One for each broker, on 127.0.0.1. */
  ports: readonly number[];
}

/** Brokers of one cluster on 127.0.0.1, which end with this process. */
export interface BrokerCluster extends AsyncDisposable {
  readonly members: readonly Broker[];
  /** Starts a member that ended again, on its ports and its data. */
  start(index: number): Promise<Broker>;
}

/**
 * Starts a cluster of brokers with Java, each on a folder of its own below `dir`. Resolves when all of them answer. Each
 * is a controller as well, so that the cluster works while most of them do. Throws as `startBroker` does.
 */
export async function startBrokers({ ports, ...options }: BrokersOptions): Promise<BrokerCluster> {
  const { log, env = process.env } = options;
  const { onProgress = (sentence) => log.info({ store: "Kafka" }, sentence) } = options;
  const folder = await lockBrokerFolder(options.dir);
  try {
    for (const port of ports) await assertFreePort(port);
    const libDir = options.libDir ?? join(folder.path, `lib-${KAFKA_VERSION}`);
    const clusterId = loadSecretFile(join(folder.path, "cluster-id"), newClusterId);
    // Once, before all of them look for it.
    await fetchBroker(libDir, { env, onProgress });
    return await onFreePorts(ports.length * 2, async (free) => {
      const controllerPorts = free.filter((port) => !ports.includes(port)).slice(0, ports.length);
      const startOne = (index: number) => {
        const controllerPort = controllerPorts[index] as number;
        const quorum: Quorum = { clusterId, controllerPorts, controllerPort };
        const dir = join(folder.path, `broker-${index + 1}`);
        return startBroker({ ...options, dir, libDir, port: ports[index] as number, quorum });
      };
      return openCluster(await startAll(ports.map((_, index) => startOne(index))), { folder, startOne });
    });
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

async function startAll(starting: Promise<Broker>[]): Promise<Broker[]> {
  const started = await Promise.allSettled(starting);
  const members = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failed = started.find((each) => each.status === "rejected");
  if (failed === undefined) return members;
  await endAll(members);
  throw failed.reason;
}

async function endAll(members: readonly Broker[]): Promise<void> {
  await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
}

interface Place {
  folder: BrokerFolder;
  startOne: (index: number) => Promise<Broker>;
}

function openCluster(members: Broker[], { folder, startOne }: Place): BrokerCluster {
  return {
    members,
    async start(index) {
      await members[index]?.[Symbol.asyncDispose]();
      return (members[index] = await startOne(index));
    },
    async [Symbol.asyncDispose]() {
      try {
        await endAll(members);
      } finally {
        folder[Symbol.dispose]();
      }
    },
  };
}
