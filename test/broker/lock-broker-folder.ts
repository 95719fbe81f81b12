import { chmodSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { retry } from "../../schemas/async/retry.js";
import { LOCK_ATTEMPTS, takeLockFile } from "../../deploy/process/lock-file.js";
import { makeFolders } from "../../deploy/process/private-files.js";
import { StartFailure, explainFileError } from "../../deploy/process/start-failure.js";

/** A broker's folder, locked by this process until disposed of. */
export interface BrokerFolder extends Disposable {
  /** Absolute, with every symbolic link resolved. */
  path: string;
}

const LOCK = "lock";

/**
 * Creates the folder (mode 0700) and locks it. The lock is separate from the data directory's, which a running `start`
 * holds. Throws StartFailure when another process holds the lock, or when the folder is not writable.
 */
export async function lockBrokerFolder(dir: string): Promise<BrokerFolder> {
  try {
    const path = makeFolder(dir);
    const take = async () => {
      const taken = takeLockFile(join(path, LOCK));
      if ("release" in taken) return { path, [Symbol.dispose]: () => taken.release() };
      throw new StartFailure(heldSentence(path, taken.heldBy));
    };
    return await retry(take, { ...LOCK_ATTEMPTS, isTransient: (error) => error instanceof StartFailure });
  } catch (error) {
    throw explainFileError(error, dir);
  }
}

function makeFolder(dir: string): string {
  const parent = dirname(dir);
  makeFolders(parent);
  // `start` refuses a data directory that is open to other users and contains unknown folders, such as this one.
  if (readdirSync(parent).length === 0) chmodSync(parent, 0o700);
  makeFolders(dir);
  return realpathSync(dir);
}

function heldSentence(path: string, heldBy: string): string {
  const holder = heldBy === "" ? "another process" : `process ${heldBy}`;
  return `The Kafka folder ${path} is in use by ${holder}: use that broker, stop it, or choose another DATA_DIR.`;
}
