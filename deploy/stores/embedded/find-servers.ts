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
  return numbersIn("/proc").flatMap((pid) => {
    try {
      const at = directoryOf(pid);
      if (at !== dir && !at?.startsWith(`${dir}/`)) return [];
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // A dying process loses its command line before it closes its files.
      if (commandLine !== "" && !isServer(commandLine)) return [];
      return [{ pid, parent: parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8")).parent }];
    } catch {
      return []; // ended meanwhile, or belongs to another user
    }
  });
}

/**
 * The working directory of a process, which is that of any of its threads: after a SIGKILL the first thread may be gone
 * while others still end what they were at, such as writing to a file.
 */
function directoryOf(pid: number): string | undefined {
  const first = directoryAt(`/proc/${pid}/cwd`);
  if (first !== undefined) return first;
  return numbersIn(`/proc/${pid}/task`)
    .map((thread) => directoryAt(`/proc/${pid}/task/${thread}/cwd`))
    .find((directory) => directory !== undefined);
}

function directoryAt(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined; // ended, or belongs to another user
  }
}

function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
