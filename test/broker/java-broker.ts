import { randomBytes } from "node:crypto";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assetUrl } from "../../schemas/asset.js";
import { storeFailure } from "../../deploy/process/start-failure.js";
import type { ServerProcess } from "../../deploy/stores/embedded/server-process.js";
import {
  brokerSettings,
  propertiesText,
  type BrokerAddress,
  type BrokerSettings,
} from "./broker-settings.js";
import type { Environment, Java } from "./find-java.js";
import { spawnWatched } from "./spawn-watched.js";

export interface JavaBroker {
  /** Its working directory, with `data` and `server.properties`. */
  dir: string;
  libDir: string;
  java: Java;
  env: Environment;
  settings: BrokerSettings;
  /** Undefined for a broker alone. */
  quorum: Quorum | undefined;
}

/** The place of a broker in its cluster, the same at every start but for the ports. */
export interface Quorum {
  clusterId: string;
  controllerPorts: readonly number[];
  /** Its own controller port, one of them. */
  controllerPort: number;
}

// With only the first compiler tier, a start takes half the time, and a broker mostly copies bytes. Verifying the code of
// classes, whose checksums Maven compared, was 15 % of the processor time of a start.
const JVM = [
  "-Xmx512m",
  "-XX:TieredStopAtLevel=1",
  "-XX:+UnlockDiagnosticVMOptions",
  "-XX:-BytecodeVerificationRemote",
  "-XX:+ExitOnOutOfMemoryError",
];

/** Starts the broker's process. Does not wait until it answers. */
export function spawnBroker(
  broker: JavaBroker,
  ports: { port: number; controllerPort: number },
  onLine: (line: string) => void,
): Promise<ServerProcess> {
  const logDir = dataFolder(broker.dir);
  const settings = { ...brokerSettings({ ...ports, logDir, ...quorumOf(broker) }), ...broker.settings };
  const file = join(broker.dir, "server.properties");
  writeFileSync(file, propertiesText(settings), { mode: 0o600 });
  return spawnJava(broker, ["kafka.Kafka", file], onLine);
}

/**
 * Formats the storage with a cluster id, which Kafka requires before the first start. Formats a temporary folder and
 * renames it, so that a killed start leaves no incomplete storage.
 */
export async function formatStorage(broker: JavaBroker): Promise<void> {
  const { dir, quorum } = broker;
  if (existsSync(dataFolder(dir))) return;
  const fresh = `${dataFolder(dir)}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const file = join(dir, "format.properties");
  // The tool does not listen, but settings without ports are invalid.
  const controllerPort = quorum?.controllerPort ?? 9093;
  const settings = brokerSettings({ port: 9092, controllerPort, logDir: fresh, ...quorumOf(broker) });
  writeFileSync(file, propertiesText(settings), { mode: 0o600 });
  const id = quorum?.clusterId ?? newClusterId();
  const args = ["kafka.tools.StorageTool", "format", `--cluster-id=${id}`, `--config=${file}`];
  const format = await spawnJava(broker, args, () => undefined);
  const end = await format.gone;
  rmSync(file, { force: true });
  if (end !== "exit status 0")
    throw storeFailure(`Kafka's storage could not be formatted in ${dir} (${end})`, {
      dir,
      tail: format.tail(),
    });
  renameSync(fresh, dataFolder(dir));
}

function quorumOf({ quorum }: JavaBroker): Pick<BrokerAddress, "quorum"> {
  return quorum === undefined ? {} : { quorum: quorum.controllerPorts };
}

function dataFolder(dir: string): string {
  return join(dir, "data");
}

/** Kafka's form of a UUID: 16 bytes in base64url. It must not begin with a dash, which would make it an option. */
export function newClusterId(): string {
  const id = randomBytes(16);
  id[0] = (id[0] ?? 0) & 0x7f;
  return id.toString("base64url");
}

function spawnJava(
  { dir, libDir, java, env }: JavaBroker,
  args: readonly string[],
  onLine: (line: string) => void,
): Promise<ServerProcess> {
  const logging = fileURLToPath(assetUrl("test/broker/log4j2.properties"));
  return spawnWatched({
    command: [
      java.command,
      ...JVM,
      `-Dlog4j2.configurationFile=${logging}`,
      "-cp",
      join(libDir, "*"),
      ...args,
    ],
    cwd: dir,
    // Nothing else, because this process's environment may contain secrets.
    env: { PATH: env["PATH"], HOME: env["HOME"], LC_ALL: "C", TZ: "UTC" },
    onLine,
  });
}
