import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StartFailure } from "../process/start-failure.js";

/** A program on this machine that runs Kafka's classes. */
export interface Java {
  /** As it is to be spawned: a path, or a name that PATH resolves. */
  command: string;
  /** The major version, such as 17. */
  version: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Brokers since Kafka 4.0 run on no older one: https://kafka.apache.org/documentation/#java */
const JAVA_VERSION_MIN = 17;
const INSTALL =
  "install one (Debian and Ubuntu: `apt install openjdk-17-jre-headless maven`; macOS: `brew install openjdk maven`), start Docker, or set KAFKA_BROKERS to a Kafka that runs elsewhere";

/** The Java of JAVA_HOME or of PATH. Throws StartFailure, saying what to install, when there is none of 17 or newer. */
export async function findJava(env: Environment): Promise<Java> {
  const home = env["JAVA_HOME"];
  const command = home ? join(home, "bin", "java") : "java";
  const said = await outputOf(command, ["-version"], env);
  const version = said === undefined ? undefined : parseJavaVersion(said);
  if (version === undefined) {
    const where = home ? `none runs in JAVA_HOME (${home})` : "there is none in PATH";
    throw new StartFailure(`Kafka needs Java ${JAVA_VERSION_MIN} or newer, and ${where}: ${INSTALL}.`);
  }
  if (version < JAVA_VERSION_MIN)
    throw new StartFailure(
      `Kafka needs Java ${JAVA_VERSION_MIN} or newer, and ${command} is Java ${version}: ${INSTALL}, or set JAVA_HOME to a newer one.`,
    );
  return { command, version };
}

/** Throws StartFailure, saying what to install, when there is no Maven in PATH that runs. */
export async function findMaven(env: Environment): Promise<void> {
  if ((await outputOf("mvn", ["--version"], env)) === undefined)
    throw new StartFailure(
      `Kafka is downloaded with Maven, and no mvn in PATH runs: install it (Debian and Ubuntu: \`apt install maven\`; macOS: \`brew install maven\`), start Docker, or set KAFKA_BROKERS to a Kafka that runs elsewhere.`,
    );
}

/** The major version in what `java -version` writes; "1.8" was the name of 8. Undefined when it is in there nowhere. */
export function parseJavaVersion(said: string): number | undefined {
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(said) ?? [];
  const major = first === "1" ? second : first;
  return major === undefined ? undefined : Number(major);
}

/** Both outputs of a program; undefined when it is not there or fails. */
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
