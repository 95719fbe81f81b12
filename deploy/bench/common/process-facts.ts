/** What Linux tells of a process; memory in bytes. See proc_pid_stat(5) and proc_pid_status(5). */
export interface ProcessFacts {
  pid: number;
  parentPid: number;
  /** In user and kernel mode, of all its threads, since it began. */
  cpuSeconds: number;
  /** What it holds of the machine's memory now. */
  residentBytes: number;
  /** Of that, what no file stands behind: heaps, stacks and buffers. */
  anonymousBytes: number;
  /** The most that it ever held. */
  residentPeakBytes: number;
}

// USER_HZ, which is 100 on every architecture that Node and ClickHouse run on.
const TICKS_PER_SECOND = 100;

/** Reads the texts of `/proc/<pid>/stat` and `/proc/<pid>/status`. A process that has ended holds no memory. */
export function parseProcessFacts({ stat, status }: { stat: string; status: string }): ProcessFacts {
  // The name, in brackets, may itself hold spaces and brackets.
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

// Counted from the field after the name.
const PARENT = 1;
const USER_TIME = 11;
const KERNEL_TIME = 12;

function bytesOf(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  return Number(found?.[1] ?? 0) * 1024;
}
