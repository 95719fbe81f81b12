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
import { callLibc } from "./libc.js";

/** A lock that the kernel releases when its process ends, so it is never stale. */
export interface LockFile {
  release(): void;
}

/** A process that was just killed, or one that calls `isLocked`, may hold the lock for a moment. */
export const LOCK_ATTEMPTS = { attempts: 11, backoff: { firstMs: 30 } };

const LOCK_SHARED = 1;
const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;
const EWOULDBLOCK = process.platform === "darwin" ? 35 : 11;

/**
 * Takes the lock and writes this process's id into the file, and the text `as` behind it, or returns what the holder wrote
 * ("" while unknown). Calls flock(2), which Node does not have: with a file that only names a process, one could not tell
 * whether it still runs.
 */
export function takeLockFile(path: string, { as = "" } = {}): LockFile | { heldBy: string } {
  for (;;) {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    if (!flock(fd, LOCK_EXCLUSIVE)) {
      closeSync(fd);
      return { heldBy: readIfThere(path) };
    }
    // The last holder may have removed the file between our open and our lock. Such a lock protects nothing.
    if (isStillAt(fd, path)) return writtenLock(fd, { path, text: `${process.pid} ${as}`.trim() });
    closeSync(fd);
  }
}

function writtenLock(fd: number, { path, text }: { path: string; text: string }): LockFile {
  try {
    ftruncateSync(fd);
    writeSync(fd, `${text}\n`, 0);
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

/** Whether a process holds the lock now. */
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

/** Tries to lock; the lock lasts until the descriptor is closed. */
function flock(fd: number, kind: number): boolean {
  const { value, errno, message } = callLibc("flock", ["int", fd], ["int", kind | LOCK_NOT_WAITING]);
  if (value === 0) return true;
  if (errno === EWOULDBLOCK) return false;
  throw new Error(`flock failed: ${message}`);
}
