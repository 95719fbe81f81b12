import { readFileSync } from "node:fs";
import { TICKS_PER_SECOND } from "../../../deploy/process/proc-stat.js";

/** The CPU seconds of all processes on all cores since the machine started. See proc_stat(5). */
export function readBusySeconds(): number {
  return parseBusySeconds(readFileSync("/proc/stat", "utf8"));
}

/** Parses `/proc/stat`: everything except idle time and waiting for disks. */
export function parseBusySeconds(stat: string): number {
  const line = /^cpu +(.*)$/m.exec(stat)?.[1] ?? "";
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = line
    .split(" ")
    .map(Number);
  return (user + nice + system + interrupts + softInterrupts + stolen) / TICKS_PER_SECOND;
}
