import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../../../schemas/async/pause.js";
import type { Endpoints } from "../../../deploy/process/data-dir.js";
import { START_SOONER } from "./start-sooner.js";

/** The program in a process of its own. */
export interface ToolchainProcess {
  readonly pid: number;
  /** Exit status, or the name of the signal that ended it. */
  readonly gone: Promise<number | NodeJS.Signals>;
  /** Its log so far. */
  log(): string;
  kill(signal: NodeJS.Signals): void;
}

export type ProcessEnvironment = Record<string, string>;

/** All tests send from one address, and faster than anybody else. */
const UNLIMITED = { REQUESTS_PER_SECOND: "1000000" };

const PROGRAM = new URL("../../../dist/deploy/main.js", import.meta.url).pathname;
const START_MS_MAX = 300_000;
const POLL_MS = 50;

/**
 * Starts the built program with these arguments, with the flags of its first line on the `node` of PATH. Its variables
 * come from `env` alone, but for PATH, HOME and TMPDIR. It optimizes late where `env` has no NODE_OPTIONS of its own.
 * `through` is a command that runs another, such as `nice`.
 */
export function spawnProgram(
  args: readonly string[],
  env: ProcessEnvironment,
  through: readonly string[] = [],
): ChildProcess {
  const { PATH = "", HOME = "/", TMPDIR } = process.env;
  const NODE_OPTIONS = `--import=${START_SOONER}`;
  const [command = "", ...rest] = [...through, PROGRAM, ...args];
  return spawn(command, rest, {
    env: { PATH, HOME, NODE_OPTIONS, ...UNLIMITED, ...(TMPDIR !== undefined && { TMPDIR }), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** `maintainer-toolchain start`; what it writes is kept for error messages and log assertions. */
export function spawnToolchain(env: ProcessEnvironment): ToolchainProcess {
  const child = spawnProgram(["start"], env);
  const written: Buffer[] = [];
  child.stdout?.on("data", (part: Buffer) => written.push(part));
  child.stderr?.on("data", (part: Buffer) => written.push(part));
  const gone = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (status, signal) => resolve(signal ?? status ?? -1));
  });
  const log = () => Buffer.concat(written).toString();
  return { pid: child.pid ?? -1, gone, log, kill: (signal) => void child.kill(signal) };
}

/** Resolves with the endpoints once the program says that it is ready; throws with its log when it ends before. */
export async function waitUntilReady(running: ToolchainProcess, dataDir: string): Promise<Endpoints> {
  const deadline = performance.now() + START_MS_MAX;
  const ended = running.gone.then((status) => `ended with ${status}`);
  while (performance.now() < deadline) {
    const end = await Promise.race([ended, pause(POLL_MS)]);
    if (end !== undefined) throw new Error(`the program ${end} before it was ready:\n${tail(running.log())}`);
    const endpoints = await readEndpoints(dataDir);
    if (endpoints !== undefined && (await isReady(endpoints))) return endpoints;
  }
  throw new Error(`the program is not ready after ${START_MS_MAX / 1000} s:\n${tail(running.log())}`);
}

async function readEndpoints(dataDir: string): Promise<Endpoints | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, "endpoints.json"), "utf8")) as Endpoints;
  } catch {
    return undefined;
  }
}

/** Without the role of the API it is asked where its metrics are. */
async function isReady({ api, metrics }: Endpoints): Promise<boolean> {
  try {
    const response = await fetch(`${api ?? metrics}/readyz`);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

export function tail(log: string): string {
  return log.split("\n").slice(-30).join("\n");
}

/**
 * Waits until no process works in `dataDir` any more and throws naming those that still do after `patienceMs`. The
 * embedded stores work in there; on a system without /proc nothing is found.
 */
export async function assertNoneLeft(dataDir: string, { patienceMs }: { patienceMs: number }): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let left = processesIn(dataDir);
  while (left.length > 0 && performance.now() < deadline) {
    await pause(POLL_MS);
    left = processesIn(dataDir);
  }
  if (left.length > 0)
    throw new Error(`processes outlived the program that started them:\n${left.join("\n")}`);
}

function processesIn(dataDir: string): string[] {
  return pidsIn(dataDir).flatMap((pid) => {
    try {
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
    } catch {
      return []; // gone meanwhile
    }
  });
}

/** The processes that work in the folder or below it. */
export function pidsIn(folder: string): number[] {
  return pids().filter((pid) => {
    try {
      const at = readlinkSync(`/proc/${pid}/cwd`);
      return at === folder || at.startsWith(`${folder}/`);
    } catch {
      return false; // gone meanwhile, or another user's
    }
  });
}

function pids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
