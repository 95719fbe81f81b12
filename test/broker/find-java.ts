import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StartFailure } from "../../deploy/process/start-failure.js";

/** A Java installation. */
export interface Java {
  /** The command to spawn: a path, or a name in PATH. */
  command: string;
  /** The major version, such as 17. */
  version: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Required since Kafka 4.0: https://kafka.apache.org/documentation/#java */
const JAVA_VERSION_MIN = 17;
const INSTALL =
  "install it (Debian and Ubuntu: `apt install openjdk-17-jre-headless maven`; macOS: `brew install openjdk maven`), start Docker, or set KAFKA_BROKERS to a Kafka that runs elsewhere";

/** Finds Java in JAVA_HOME or PATH. Throws StartFailure with what to install when there is no version 17 or newer. */
export async function findJava(env: Environment): Promise<Java> {
  const home = env["JAVA_HOME"];
  const command = home ? join(home, "bin", "java") : "java";
  const output = await outputOf(command, ["-version"], env);
  const version = output === undefined ? undefined : parseJavaVersion(output);
  if (version === undefined) {
    const where = home ? `JAVA_HOME (${home}) has none that runs` : "PATH has none";
    throw new StartFailure(`Kafka needs Java ${JAVA_VERSION_MIN} or newer, and ${where}: ${INSTALL}.`);
  }
  if (version < JAVA_VERSION_MIN)
    throw new StartFailure(
      `Kafka needs Java ${JAVA_VERSION_MIN} or newer, and ${command} is Java ${version}: ${INSTALL}, or set JAVA_HOME to a newer one.`,
    );
  return { command, version };
}

/** Throws StartFailure with what to install when there is no working Maven in PATH. */
export async function findMaven(env: Environment): Promise<void> {
  if ((await outputOf("mvn", ["--version"], env)) === undefined)
    throw new StartFailure(
      `Kafka is downloaded with Maven, and PATH has no mvn that runs: install it (Debian and Ubuntu: \`apt install maven\`; macOS: \`brew install maven\`), start Docker, or set KAFKA_BROKERS to a Kafka that runs elsewhere.`,
    );
}

/** The major version in the output of `java -version`, where "1.8" means 8; undefined when there is none. */
export function parseJavaVersion(output: string): number | undefined {
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(output) ?? [];
  const major = first === "1" ? second : first;
  return major === undefined ? undefined : Number(major);
}

/** The standard output and error of a program; undefined when it is missing or fails. */
async function outputOf(
  command: string,
  args: readonly string[],
  env: Environment,
): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { env, timeout: 30_000 });
    return stdout + stderr;
  } catch {
    return undefined;
  }
}
