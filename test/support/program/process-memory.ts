import { readFileSync, writeFileSync } from "node:fs";

/** Resident memory of another process, in MiB (Linux). */
export interface MemoryWatch {
  /** When the watch began. */
  readonly beforeMiB: number;
  /** The most since then. */
  peakMiB(): number;
  nowMiB(): number;
}

/** Begins a new high-water mark where the system allows it; else the highest since the process began counts. */
export function watchMemory(pid: number): MemoryWatch {
  const beforeMiB = statusMiB(pid, "VmRSS");
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Not allowed here: the mark is then an upper bound.
  }
  return {
    beforeMiB,
    peakMiB: () => statusMiB(pid, "VmHWM"),
    nowMiB: () => statusMiB(pid, "VmRSS"),
  };
}

/** A line such as `VmHWM:	  123456 kB`. Source: proc(5). */
function statusMiB(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  if (kib === undefined) throw new Error(`/proc/${pid}/status has no ${name}`);
  return Math.round(Number(kib) / 1024);
}
