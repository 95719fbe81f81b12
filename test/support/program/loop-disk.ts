import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../../../schemas/async/pause.js";

/** A disk of its own, whose power can be cut: a file system in a file. */
export interface LoopDisk extends AsyncDisposable {
  /** Where it is mounted. */
  readonly path: string;
  /** After a power cut, once no process uses it: it has what was written down. Answers whether there was one. */
  restore(): Promise<boolean>;
}

/** What this machine lacks for such a disk, as a sentence; undefined when all is there. */
export function missingForLoopDisk(): string | undefined {
  const runs = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  if (process.getuid?.() === 0 && runs("losetup", "--find") && runs("mkfs.ext4", "-V")) return undefined;
  return "It needs root, a loop device and mkfs.ext4.";
}

const SIZE = "6G";
const USED_MS_MAX = 30_000;

export function makeLoopDisk(): LoopDisk {
  const dir = mkdtempSync(join(tmpdir(), "toolchain-disk-"));
  const path = join(dir, "mounted");
  const image = join(dir, "disk.img");
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: "pipe" });
  const mount = () => run("mount", "-o", "loop", image, path);
  const unmount = async () => {
    for (const deadline = Date.now() + USED_MS_MAX; ; await pause(100)) {
      const { status, stderr } = spawnSync("umount", [path], { encoding: "utf8" });
      if (status === 0) return;
      if (Date.now() > deadline) throw new Error(`a process still uses the disk: ${stderr}`);
    }
  };
  run("mkdir", path);
  run("truncate", "-s", SIZE, image);
  run("mkfs.ext4", "-q", image);
  mount();
  // PostgreSQL runs as another user.
  run("chmod", "755", dir, path);
  return {
    path,
    async restore() {
      if (!isCut(path)) return false;
      await unmount();
      mount();
      return true;
    },
    async [Symbol.asyncDispose]() {
      await unmount();
      rmSync(dir, { recursive: true });
    },
  };
}

/** A folder in place of such a disk, where no power is cut. */
export function makeFolder(): LoopDisk {
  const path = mkdtempSync(join(tmpdir(), "toolchain-folder-"));
  return {
    path,
    restore: async () => false,
    [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Nothing can be written any more: see `cutPower` in arm.mjs. */
function isCut(path: string): boolean {
  try {
    writeFileSync(join(path, "probe"), "");
    return false;
  } catch {
    return true;
  }
}
