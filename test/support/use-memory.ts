import { readFileSync, statfsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { freemem } from "node:os";

const FOLDER = "/dev/shm";
/** Several times what the files that run at a time keep. */
const ROOM_BYTES_MIN = 8 * 1024 ** 3;

/** Several projects use the same folder: the first one to ask makes it, the last one to end removes it. */
const run = globalThis as { memory?: { folder: Promise<string>; users: number } };

/**
 * Has tests keep their temporary files in memory where there is plenty. A copy of both databases takes half a second
 * of processor time on a disk and a tenth of that in memory. No test takes the power from the machine: a program that
 * is killed leaves the same files on either.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (run.memory === undefined && !hasRoom()) return undefined;
  const memory = (run.memory ??= { folder: makeFolder(), users: 0 });
  memory.users++;
  const folder = await memory.folder;
  return async () => {
    if (--memory.users === 0) await rm(folder, { recursive: true, force: true });
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(`${FOLDER}/toolchain-tests-`);
  // Like /tmp: the embedded PostgreSQL runs as another user than root.
  await chmod(folder, 0o1777);
  process.env["TMPDIR"] = folder;
  return folder;
}

/** In containers the folder is often small, and no program in it can be run. */
function hasRoom(): boolean {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .find(([, path]) => path === FOLDER);
    if (mount === undefined || mount[3]?.split(",").includes("noexec")) return false;
    const { bavail, bsize } = statfsSync(FOLDER);
    return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}
