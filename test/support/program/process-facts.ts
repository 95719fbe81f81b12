import { parseProcStat } from "../../../deploy/process/proc-stat.js";

/** CPU time and memory of a process on Linux. See proc_pid_stat(5) and proc_pid_status(5). */
export interface ProcessFacts {
  pid: number;
  parentPid: number;
  /** User and kernel time of all threads since its start. */
  cpuSeconds: number;
  /** Current resident memory. */
  residentBytes: number;
  /** The part of it that is not backed by files: heaps, stacks and buffers. */
  anonymousBytes: number;
  /** The peak of its resident memory. */
  residentPeakBytes: number;
}

/** Parses `/proc/<pid>/stat` and `/proc/<pid>/status`. The memory of an ended process is 0. */
export function parseProcessFacts({ stat, status }: { stat: string; status: string }): ProcessFacts {
  const { id, parent, cpuSeconds } = parseProcStat(stat);
  return {
    pid: id,
    parentPid: parent,
    cpuSeconds,
    residentBytes: bytesOf(status, "VmRSS"),
    anonymousBytes: bytesOf(status, "RssAnon"),
    residentPeakBytes: bytesOf(status, "VmHWM"),
  };
}

function bytesOf(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  return Number(found?.[1] ?? 0) * 1024;
}
