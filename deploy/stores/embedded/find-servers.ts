import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { pause } from "../../../schemas/async/pause.js";
import { parseProcStat } from "../../process/proc-stat.js";
import { StartFailure } from "../../process/start-failure.js";
import type { EndSignal } from "./server-process.js";

interface StoreProcess {
  pid: number;
  parent: number;
}

/** Whether a command line (arguments separated by spaces) belongs to the server of a store. */
export const isServerOf = {
  PostgreSQL: (commandLine: string) => /^(\S*\/)?(postgres|initdb)\b/.test(commandLine),
  ClickHouse: (commandLine: string) => commandLine.includes("clickhouse-child"),
} as const;

/** The servers that work in `dir` or below it, by /proc: without it, none. */
export function findServers(dir: string, isServer: (commandLine: string) => boolean): StoreProcess[] {
  return numbersIn("/proc").flatMap((pid) => {
    try {
      const at = directoryOf(pid);
      if (at !== dir && !at?.startsWith(`${dir}/`)) return [];
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // A dying process loses its command line before it closes its files.
      if (commandLine !== "" && !isServer(commandLine)) return [];
      return [{ pid, parent: parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8")).parent }];
    } catch {
      return []; // ended meanwhile, or belongs to another user
    }
  });
}

/**
 * Asks any thread of the process: after a SIGKILL the first may be gone while others still write to a file.
 */
function directoryOf(pid: number): string | undefined {
  const first = directoryAt(`/proc/${pid}/cwd`);
  if (first !== undefined) return first;
  return numbersIn(`/proc/${pid}/task`)
    .map((thread) => directoryAt(`/proc/${pid}/task/${thread}/cwd`))
    .find((directory) => directory !== undefined);
}

function directoryAt(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined; // ended, or belongs to another user
  }
}

function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

interface Orphans {
  name: string;
  /** Whether a command line (arguments separated by spaces) belongs to such a server. */
  isServer: (commandLine: string) => boolean;
  signals: readonly EndSignal[];
}

const POLL_MS = 20;

/**
 * Waits until they are gone. The caller must hold the lock on the data directory. Without /proc it finds
 * none, and only the server's own check of its directory remains. Throws StartFailure.
 */
export async function endOrphans(dir: string, { name, isServer, signals }: Orphans): Promise<void> {
  let found = findServers(dir, isServer);
  for (const { signal, patienceMs } of signals) {
    if (found.length === 0) return;
    for (const { pid } of rootsOf(found)) sendSignal(pid, signal);
    const deadline = performance.now() + patienceMs;
    while (found.length > 0 && performance.now() < deadline) {
      await pause(POLL_MS);
      found = findServers(dir, isServer);
    }
  }
  if (found.length === 0) return;
  const pids = found.map(({ pid }) => pid).join(", ");
  throw new StartFailure(
    `${name} from an earlier run is still using ${dir} (process ${pids}) and does not stop. End that process.`,
  );
}

/** The processes whose parents are not in the list. A server ends its own helpers, in the right order. */
function rootsOf(processes: readonly StoreProcess[]): StoreProcess[] {
  const pids = new Set(processes.map(({ pid }) => pid));
  return processes.filter(({ parent }) => !pids.has(parent));
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ended meanwhile, or must not be signalled; the final error names the latter
  }
}
