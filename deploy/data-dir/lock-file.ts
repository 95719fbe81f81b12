import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { DataType, load, open } from "ffi-rs";

/** A lock that the kernel drops with the process that holds it, however that ends: it is never stale. */
export interface LockFile {
  /** Removes the file and the lock. */
  release(): void;
}

const LOCK_SHARED = 1;
const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;
const EWOULDBLOCK = process.platform === "darwin" ? 35 : 11;

/**
 * Takes the lock and writes this process's id into the file, or says who has it ("" when that is not known yet).
 * Node has no flock(2), and a file that only names a process would need a guess at whether that process still lives.
 */
export function takeLockFile(path: string): LockFile | { heldBy: string } {
  for (;;) {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    if (!flock(fd, LOCK_EXCLUSIVE)) {
      closeSync(fd);
      return { heldBy: readIfThere(path) };
    }
    // The last holder may have removed the file between our open and our lock: then this lock guards nothing.
    if (isStillAt(fd, path)) return writtenLock(fd, path);
    closeSync(fd);
  }
}

function writtenLock(fd: number, path: string): LockFile {
  try {
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`, 0);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return {
    release() {
      unlinkSync(path);
      closeSync(fd);
    },
  };
}

/** Whether some process holds the lock at this moment. */
export function isLocked(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  try {
    return !flock(fd, LOCK_SHARED);
  } finally {
    closeSync(fd);
  }
}

function isStillAt(fd: number, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const here = fstatSync(fd);
  return there !== undefined && there.ino === here.ino && there.dev === here.dev;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

/** Whether the lock was free, and is now ours until the descriptor is closed. */
function flock(fd: number, kind: number): boolean {
  // No path: the symbols of this process, which has the C library.
  open({ library: "process", path: "" });
  const { value, errnoCode, errnoMessage } = load<typeof DataType.I32, true>({
    library: "process",
    funcName: "flock",
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32],
    paramsValue: [fd, kind | LOCK_NOT_WAITING],
    errno: true,
  });
  if (value === 0) return true;
  if (errnoCode === EWOULDBLOCK) return false;
  throw new Error(`flock failed: ${errnoMessage}`);
}
