import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findServers } from "../../../../../deploy/stores/embedded/find-servers.js";

let dir: string;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "maintainer-toolchain-servers-")));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

/** The number of exit(2), which ends one thread, on Linux. Source: <asm/unistd.h>. */
const EXIT = platform() === "linux" ? { x64: 60, arm64: 93 }[arch()] : undefined;

/** A process whose first thread ends, while another one does not. */
const WITHOUT_FIRST_THREAD = (root: string) => `
  import { Worker } from "node:worker_threads";
  import { DataType, load, open } from ${JSON.stringify(new URL("node_modules/ffi-rs/index.js", root).href)};
  const other = new Worker("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", { eval: true });
  await new Promise((resolve) => other.once("online", resolve));
  process.stdout.write("ready\\n", () => {
    open({ library: "libc", path: "" });
    const [paramsType, paramsValue] = [[DataType.I64, DataType.I64], [${EXIT}, 0]];
    load({ library: "libc", funcName: "syscall", retType: DataType.I64, paramsType, paramsValue });
  });`;

test.skipIf(EXIT === undefined)(
  "finds a process until all of its threads are gone, the first one of which may end before others",
  async () => {
    const script = WITHOUT_FIRST_THREAD(pathToFileURL(`${process.cwd()}/`).href);
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: dir,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = once(child, "exit");
    const found = () =>
      findServers(dir, (commandLine) => commandLine.includes("--eval")).map(({ pid }) => pid);
    try {
      await once(child.stdout, "data");
      await expect.poll(() => readFileSync(`/proc/${child.pid}/stat`, "utf8")).toMatch(/\) Z /);
      expect(found()).toEqual([child.pid]);
    } finally {
      child.kill("SIGKILL");
      await gone;
    }
    expect(found()).toEqual([]);
  },
);
