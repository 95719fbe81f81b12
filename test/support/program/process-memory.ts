import { readFileSync, writeFileSync } from "node:fs";
import { parseProcessFacts } from "./process-facts.js";

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
  const read = (name: "residentBytes" | "residentPeakBytes") => {
    const [stat, status] = ["stat", "status"].map((file) => readFileSync(`/proc/${pid}/${file}`, "utf8"));
    const bytes = parseProcessFacts({ stat: stat ?? "", status: status ?? "" })[name];
    if (bytes === 0) throw new Error(`process ${pid} has ended`);
    return Math.round(bytes / 2 ** 20);
  };
  const beforeMiB = read("residentBytes");
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Not allowed here: the mark is then an upper bound.
  }
  return {
    beforeMiB,
    peakMiB: () => read("residentPeakBytes"),
    nowMiB: () => read("residentBytes"),
  };
}
