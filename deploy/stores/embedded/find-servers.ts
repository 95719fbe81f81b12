import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { parseProcStat } from "../../process/proc-stat.js";

/** A process of a store's server. */
export interface StoreProcess {
  pid: number;
  parent: number;
}

/** Whether a command line (arguments separated by spaces) belongs to the server of a store. */
export const isServerOf = {
  PostgreSQL: (commandLine: string) => /^(\S*\/)?(postgres|initdb)\b/.test(commandLine),
  ClickHouse: (commandLine: string) => commandLine.includes("clickhouse-child"),
} as const;

/** The servers that work in `dir` or below it, by /proc: without it, none. */
export function findServers(dir: string, isServer: (commandLine: string) => boolean): StoreProcess[] {
  return listPids().flatMap((pid) => {
    try {
      const at = readlinkSync(`/proc/${pid}/cwd`);
      if (at !== dir && !at.startsWith(`${dir}/`)) return [];
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // A dying process loses its command line before it closes its files.
      if (commandLine !== "" && !isServer(commandLine)) return [];
      return [{ pid, parent: parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8")).parent }];
    } catch {
      return []; // ended meanwhile, or belongs to another user
    }
  });
}

function listPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
