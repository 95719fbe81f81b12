import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { takeLockFile } from "../process/lock-file.js";
import { StartFailure } from "../process/start-failure.js";

/** The folder below DATA_DIR in which a backup holds its moment, as links and small copies, until it is copied away. */
const NAME = "snapshot";

/** Takes the place for one backup, empty. Throws StartFailure when another backup has it. */
export function takeSnapshotPlace(dataDir: string) {
  const lock = takeLockFile(lockPath(dataDir));
  if ("heldBy" in lock)
    throw new StartFailure(
      `Another backup of ${dataDir} is running (process ${lock.heldBy}). Wait until it ends.`,
    );
  const path = join(dataDir, NAME);
  const clear = () => rmSync(path, { recursive: true, force: true });
  clear();
  mkdirSync(path, { mode: 0o700 });
  return {
    path,
    [Symbol.dispose]() {
      clear();
      lock.release();
    },
  };
}

/** Removes what an interrupted backup left, which would keep deleted data on the disk. Leaves a backup under way alone. */
export function clearSnapshotPlace(dataDir: string): void {
  if (!existsSync(join(dataDir, NAME))) return;
  const lock = takeLockFile(lockPath(dataDir));
  if ("heldBy" in lock) return;
  rmSync(join(dataDir, NAME), { recursive: true, force: true });
  lock.release();
}

function lockPath(dataDir: string): string {
  return join(dataDir, `${NAME}.lock`);
}
