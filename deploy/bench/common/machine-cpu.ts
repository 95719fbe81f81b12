import { readFileSync } from "node:fs";

/** How long all cores together have worked for anybody since the machine began, in seconds. See proc_stat(5). */
export function readBusySeconds(): number {
  return parseBusySeconds(readFileSync("/proc/stat", "utf8"));
}

/** Reads the text of `/proc/stat`: all but idling and waiting for disks. */
export function parseBusySeconds(stat: string): number {
  const line = /^cpu +(.*)$/m.exec(stat)?.[1] ?? "";
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = line
    .split(" ")
    .map(Number);
  return (user + nice + system + interrupts + softInterrupts + stolen) / TICKS_PER_SECOND;
}

const TICKS_PER_SECOND = 100;
