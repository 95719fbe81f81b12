import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assetUrl } from "../../schemas/asset.js";
import { takeLockFile, type LockFile } from "../data-dir/lock-file.js";
import { explainFileError, storeFailure } from "../process/start-failure.js";
import { findMaven, type Environment } from "./find-java.js";
import { spawnWatched } from "./spawn-watched.js";

export interface FetchOptions {
  env: Environment;
  /** Hears what it does, and how far it is, in sentences. */
  tell: (sentence: string) => void;
}

/** The broker that is downloaded, and the tag of the Docker image. */
export const KAFKA_VERSION = "4.1.2";

// Named, so that every Maven downloads the same one.
const COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
const LOCK_POLL_MS = 200;
const TELL_EVERY = 20;

/**
 * Fills `libDir` with the jars of a Kafka broker by Maven, unless they are there: 46 files, 43 MB. The folder appears
 * whole or not at all, also when several processes ask for it at once; the others wait for the first.
 * Throws StartFailure when Maven is missing or fails.
 */
export async function fetchBroker(libDir: string, { env, tell }: FetchOptions): Promise<void> {
  if (isFetched(libDir)) return;
  const lock = await waitForLock(libDir, tell);
  try {
    if (!isFetched(libDir)) await download(libDir, { env, tell });
  } catch (error) {
    throw explainFileError(error, libDir);
  } finally {
    lock.release();
  }
}

/** Whether a broker can start from this folder without Maven. */
export function isFetched(libDir: string): boolean {
  return existsSync(join(libDir, `kafka_2.13-${KAFKA_VERSION}.jar`));
}

async function waitForLock(libDir: string, tell: FetchOptions["tell"]): Promise<LockFile> {
  for (let told = false; ; told = true) {
    const taken = takeLock(libDir);
    if ("release" in taken) return taken;
    if (!told) tell(`Waiting for process ${taken.heldBy}, which downloads Kafka at this moment.`);
    await sleep(LOCK_POLL_MS);
  }
}

function takeLock(libDir: string): ReturnType<typeof takeLockFile> {
  try {
    mkdirSync(dirname(libDir), { recursive: true, mode: 0o700 });
    return takeLockFile(`${libDir}.lock`);
  } catch (error) {
    throw explainFileError(error, libDir);
  }
}

async function download(libDir: string, { env, tell }: FetchOptions): Promise<void> {
  await findMaven(env);
  const fresh = `${libDir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  tell(`Downloading Kafka ${KAFKA_VERSION} with Maven: 43 MB, once.`);
  const maven = await spawnWatched({
    command: ["mvn", ...mavenArguments(fresh)],
    cwd: dirname(libDir),
    env,
    onLine: countDownloads((count) => tell(`Downloaded ${count} files.`)),
  });
  const end = await maven.gone;
  if (end !== "exit status 0" || !isFetched(fresh))
    throw storeFailure(
      `Maven could not download Kafka ${KAFKA_VERSION} (${end}): see that this machine reaches Maven Central, or a mirror that ~/.m2/settings.xml names`,
      { dir: dirname(libDir), tail: maven.tail() },
    );
  rmSync(libDir, { recursive: true, force: true });
  renameSync(fresh, libDir);
}

export function mavenArguments(outputDirectory: string): string[] {
  const pom = fileURLToPath(assetUrl("deploy/broker/pom.xml"));
  return [
    "--batch-mode",
    `--file=${pom}`,
    COPY_DEPENDENCIES,
    `-Dkafka.version=${KAFKA_VERSION}`,
    `-DoutputDirectory=${outputDirectory}`,
  ];
}

/** Calls `tell` at every twentieth jar that Maven says it has downloaded. */
function countDownloads(tell: (count: number) => void): (line: string) => void {
  let count = 0;
  return (line) => {
    if (!/\bDownloaded from \S+ \S+\.jar\b/.test(line)) return;
    count += 1;
    if (count % TELL_EVERY === 0) tell(count);
  };
}
