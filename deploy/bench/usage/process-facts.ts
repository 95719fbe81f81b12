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

// USER_HZ, which is 100 on all architectures of Node and ClickHouse.
const TICKS_PER_SECOND = 100;

/** Parses `/proc/<pid>/stat` and `/proc/<pid>/status`. The memory of an ended process is 0. */
export function parseProcessFacts({ stat, status }: { stat: string; status: string }): ProcessFacts {
  // The process name in parentheses may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[USER_TIME]) + Number(fields[KERNEL_TIME]);
  return {
    pid: parseInt(stat, 10),
    parentPid: Number(fields[PARENT]),
    cpuSeconds: ticks / TICKS_PER_SECOND,
    residentBytes: bytesOf(status, "VmRSS"),
    anonymousBytes: bytesOf(status, "RssAnon"),
    residentPeakBytes: bytesOf(status, "VmHWM"),
  };
}

// Indexes of fields after the name.
const PARENT = 1;
const USER_TIME = 11;
const KERNEL_TIME = 12;

function bytesOf(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  return Number(found?.[1] ?? 0) * 1024;
}
