import { readdirSync, readFileSync } from "node:fs";
import { parseProcStat } from "../../../deploy/process/proc-stat.js";

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

/** Sums lines of `/proc/<pid>/task/<thread>/stat`. */
export function sumThreads(pid: number, stats: readonly string[]): ThreadCpu {
  const threads = stats.map(parseProcStat);
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
