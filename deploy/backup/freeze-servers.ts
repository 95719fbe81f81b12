import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../../schemas/async/pause.js";
import { StartFailure } from "../process/start-failure.js";
import { findServers, isServerOf } from "../stores/embedded/find-servers.js";

const FREEZE_MS_MAX = 10_000;
const POLL_MS = 1;

/**
 * SIGSTOP leaves the files as a `kill -9` of both at this moment would. If this process ends meanwhile, for
 * any reason, the servers go on.
 */
export async function freezeServers(dataDir: string) {
  const guard = startGuard();
  try {
    const pids = await stopAll(dataDir, guard);
    return {
      /** Lets the servers go on. Throws StartFailure when one of them did not stand still all the time. */
      async thaw() {
        const stoodStill = [...serversOf(dataDir)].every((pid) => pids.has(pid) && isStopped(pid));
        await guard.release();
        if (!stoodStill)
          throw new StartFailure("The stores resumed while the backup was reading them. Try again.");
      },
    };
  } catch (error) {
    await guard.release();
    throw error;
  }
}

async function stopAll(dataDir: string, guard: ReturnType<typeof startGuard>): Promise<ReadonlySet<number>> {
  const deadline = performance.now() + FREEZE_MS_MAX;
  for (;;) {
    // A process that forks before it stops is followed by another round.
    const pids = serversOf(dataDir);
    const moving = [...pids].filter((pid) => !isStopped(pid));
    if (moving.length === 0) return pids;
    if (performance.now() > deadline) throw new StartFailure("The stores could not be paused. Try again.");
    for (const pid of moving) guard.stop(pid);
    await pause(POLL_MS);
  }
}

const FOLDERS = { PostgreSQL: "postgres", ClickHouse: "clickhouse" } as const;

function serversOf(dataDir: string): ReadonlySet<number> {
  const pids = (["PostgreSQL", "ClickHouse"] as const).map((name) => {
    const found = findServers(join(dataDir, FOLDERS[name]), isServerOf[name]);
    if (found.length > 0) return found.map(({ pid }) => pid);
    throw new StartFailure(
      `The process ${name} of ${dataDir} cannot be found. Run this command on the service's machine ` +
        "(Linux), as the service's user or as root. If the service is starting, try again when it is ready.",
    );
  });
  return new Set(pids.flat());
}

/** Whether no thread of the process runs. Source: proc_pid_stat(5). */
function isStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((task) => {
      const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8");
      return "TtZX".includes(stat.charAt(stat.lastIndexOf(")") + 2));
    });
  } catch {
    return true; // ended meanwhile: it writes no more
  }
}

/** A shell that reads the ids of stopped processes and, at the end of its input, continues them. */
function startGuard() {
  const script = `trap "" INT HUP TERM; while read -r pid; do pids="$pids $pid"; done; kill -CONT $pids`;
  const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  const gone = once(child, "exit");
  const stopped = new Set<number>();
  return {
    stop(pid: number) {
      if (!stopped.has(pid)) child.stdin.write(`${pid}\n`);
      stopped.add(pid);
      signal(pid, "SIGSTOP");
    },
    async release() {
      for (const pid of stopped) signal(pid, "SIGCONT");
      child.stdin.end();
      await gone;
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
