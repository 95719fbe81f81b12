import { readdirSync, readFileSync } from "node:fs";

/** CPU seconds of a program by kind of thread, since its start. Threads that ended are not counted. */
export interface ThreadCpu {
  /** Answers requests, takes bodies in and settles. */
  main: number;
  /** The threads that run at a lowered priority. */
  enrichment: number;
  /** Collection, garbage collection and the thread pool of Node. */
  other: number;
}

export const NO_CPU: ThreadCpu = { main: 0, enrichment: 0, other: 0 };

/** Zeros after the process has ended. */
export function readThreadCpu(pid: number): ThreadCpu {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return sumThreads(
      pid,
      threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")),
    );
  } catch {
    return NO_CPU;
  }
}

/** Sums lines of `/proc/<pid>/task/<thread>/stat`. See proc_pid_stat(5). */
export function sumThreads(pid: number, stats: readonly string[]): ThreadCpu {
  const threads = stats.map(parseThread);
  const mainNice = threads.find(({ id }) => id === pid)?.nice ?? 0;
  const sum = { ...NO_CPU };
  for (const { id, nice, cpuSeconds } of threads) {
    if (id === pid) sum.main += cpuSeconds;
    else if (nice > mainNice) sum.enrichment += cpuSeconds;
    else sum.other += cpuSeconds;
  }
  return sum;
}

export function threadCpuBetween(before: ThreadCpu, after: ThreadCpu): ThreadCpu {
  return {
    main: after.main - before.main,
    enrichment: after.enrichment - before.enrichment,
    other: after.other - before.other,
  };
}

const TICKS_PER_SECOND = 100;
// Indexes of fields after the name, which may contain spaces.
const USER_TIME = 11;
const KERNEL_TIME = 12;
const NICE = 16;

function parseThread(stat: string): { id: number; nice: number; cpuSeconds: number } {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[USER_TIME]) + Number(fields[KERNEL_TIME]);
  return { id: parseInt(stat, 10), nice: Number(fields[NICE]), cpuSeconds: ticks / TICKS_PER_SECOND };
}
