import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pause } from "../../schemas/async/pause.js";
import { assetUrl } from "../../schemas/asset.js";
import { takeLockFile, type LockFile } from "../../deploy/process/lock-file.js";
import { explainFileError, storeFailure } from "../../deploy/process/start-failure.js";
import { findMaven, type Environment } from "./find-java.js";
import { spawnWatched } from "./spawn-watched.js";

export interface FetchOptions {
  env: Environment;
  /** Called with a sentence about each step. */
  onProgress: (sentence: string) => void;
}

/** The release to download, also the tag of the Docker image. */
export const KAFKA_VERSION = "4.1.2";

// A fixed version, so that every Maven uses the same plugin.
const COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
const LOCK_POLL_MS = 200;
const FILES_PER_REPORT = 20;

/**
 * Downloads the jars of a Kafka broker to `libDir` with Maven, unless they are there: 46 files, 43 MB. The folder
 * appears only when complete. When several processes call this, one downloads and the others wait. Throws StartFailure
 * when Maven is missing or fails.
 */
export async function fetchBroker(libDir: string, { env, onProgress }: FetchOptions): Promise<void> {
  if (isFetched(libDir)) return;
  const lock = await waitForLock(libDir, onProgress);
  try {
    if (!isFetched(libDir)) await download(libDir, { env, onProgress });
  } catch (error) {
    throw explainFileError(error, libDir);
  } finally {
    lock.release();
  }
}

/** Whether this folder has the jars of a broker. */
export function isFetched(libDir: string): boolean {
  return existsSync(join(libDir, `kafka_2.13-${KAFKA_VERSION}.jar`));
}

async function waitForLock(libDir: string, onProgress: FetchOptions["onProgress"]): Promise<LockFile> {
  for (let reported = false; ; reported = true) {
    const taken = takeLock(libDir);
    if ("release" in taken) return taken;
    if (!reported) onProgress(`Waiting for process ${taken.heldBy}, which is downloading Kafka.`);
    await pause(LOCK_POLL_MS);
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

async function download(libDir: string, { env, onProgress }: FetchOptions): Promise<void> {
  await findMaven(env);
  const fresh = `${libDir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  onProgress(`Downloading Kafka ${KAFKA_VERSION} with Maven: 43 MB, once.`);
  const maven = await spawnWatched({
    command: ["mvn", ...mavenArguments(fresh)],
    cwd: dirname(libDir),
    env,
    onLine: countDownloads((count) => onProgress(`Downloaded ${count} files.`)),
  });
  const end = await maven.gone;
  if (end !== "exit status 0" || !isFetched(fresh))
    throw storeFailure(
      `Maven could not download Kafka ${KAFKA_VERSION} (${end}): check that this machine can reach Maven Central, or set a mirror in ~/.m2/settings.xml`,
      { dir: dirname(libDir), tail: maven.tail() },
    );
  rmSync(libDir, { recursive: true, force: true });
  renameSync(fresh, libDir);
}

export function mavenArguments(outputDirectory: string): string[] {
  const pom = fileURLToPath(assetUrl("test/broker/pom.xml"));
  return [
    "--batch-mode",
    `--file=${pom}`,
    COPY_DEPENDENCIES,
    `-Dkafka.version=${KAFKA_VERSION}`,
    `-DoutputDirectory=${outputDirectory}`,
  ];
}

/** Reports every twentieth jar that Maven logs as downloaded. */
function countDownloads(onProgress: (count: number) => void): (line: string) => void {
  let count = 0;
  return (line) => {
    if (!/\bDownloaded from \S+ \S+\.jar\b/.test(line)) return;
    count += 1;
    if (count % FILES_PER_REPORT === 0) onProgress(count);
  };
}
