import { readdirSync, readFileSync } from "node:fs";
import { parseProcessFacts, type ProcessFacts } from "../../support/program/process-facts.js";

export const PARTS = ["service", "clickhouse", "postgres"] as const;

/** The kinds of processes; `service` is the program itself with all its threads. */
export type Part = (typeof PARTS)[number];

export interface PartProcess extends ProcessFacts {
  part: Part;
}

/** The process `rootPid` and all its descendants. Empty after it has ended. */
export function readProgramParts(rootPid: number): PartProcess[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const root = all.filter(({ pid }) => pid === rootPid).map((found) => ({ ...found, part: PARTS[0] }));
  return withDescendants(root, all);
}

function withDescendants(parents: PartProcess[], all: readonly ProcessFacts[]): PartProcess[] {
  if (parents.length === 0) return [];
  const children = parents.flatMap(({ pid, part }) =>
    all
      .filter(({ parentPid }) => parentPid === pid)
      .map((child) => ({ ...child, part: partOf(child.pid, part) })),
  );
  return [...parents, ...withDescendants(children, all)];
}

/** The process of a store is recognised by its command line. Any other has the part of its parent. */
function partOf(pid: number, inherited: Part): Part {
  const commandLine = readText(`/proc/${pid}/cmdline`) ?? "";
  if (commandLine.includes("clickhouse-child")) return "clickhouse";
  if (/\bpostgres\b/.test(commandLine)) return "postgres";
  return inherited;
}

function readProcess(pid: string): ProcessFacts[] {
  const stat = readText(`/proc/${pid}/stat`);
  const status = readText(`/proc/${pid}/status`);
  return stat === undefined || status === undefined ? [] : [parseProcessFacts({ stat, status })];
}

/** Undefined when the process has ended. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
