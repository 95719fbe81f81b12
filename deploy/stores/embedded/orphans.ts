import { pause } from "../../../schemas/async/pause.js";
import { StartFailure } from "../../process/start-failure.js";
import { findServers, type StoreProcess } from "./find-servers.js";
import type { EndSignal } from "./server-process.js";

export interface Orphans {
  /** The server's name in messages, such as "PostgreSQL". */
  name: string;
  /** Whether a command line (arguments separated by spaces) belongs to such a server. */
  isServer: (commandLine: string) => boolean;
  signals: readonly EndSignal[];
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
