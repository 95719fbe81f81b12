import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { pause } from "../../../schemas/async/pause.js";
import { parseProcStat } from "../../process/proc-stat.js";
import { StartFailure } from "../../process/start-failure.js";
import type { EndSignal } from "./server-process.js";

export interface Orphans {
  /** The server's name in messages, such as "PostgreSQL". */
  name: string;
  /** Whether a command line (arguments separated by spaces) belongs to such a server. */
  isServer: (commandLine: string) => boolean;
  signals: readonly EndSignal[];
}

interface Process {
  pid: number;
  parent: number;
}

const POLL_MS = 20;

/**
 * Ends the servers that an earlier run left on `dir`, and waits until they are gone. The caller must hold the lock on
 * the data directory. Finds servers by their working directory in /proc. Without /proc it finds none, and only the
 * server's own check of its directory remains. Throws StartFailure when a server does not end.
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
    `${name} of an earlier run still uses ${dir} (process ${pids}) and does not end: end it.`,
  );
}

function findServers(dir: string, isServer: (commandLine: string) => boolean): Process[] {
  return listPids().flatMap((pid) => {
    try {
      const at = readlinkSync(`/proc/${pid}/cwd`);
      if (at !== dir && !at.startsWith(`${dir}/`)) return [];
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // A dying process loses its command line before it closes its files.
      if (commandLine !== "" && !isServer(commandLine)) return [];
      return [{ pid, parent: parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8")).parent }];
    } catch {
      return []; // ended meanwhile, or belongs to another user
    }
  });
}

function listPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** The processes whose parents are not in the list. A server ends its own helpers, in the right order. */
function rootsOf(processes: readonly Process[]): Process[] {
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
