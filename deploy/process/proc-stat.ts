/** A line of `/proc/<pid>/stat` or `/proc/<pid>/task/<thread>/stat`. Source: proc_pid_stat(5). */
export interface ProcStat {
  id: number;
  parent: number;
  group: number;
  session: number;
  /** User and kernel time since its start; for a process, that of all its threads. */
  cpuSeconds: number;
  nice: number;
}

/** USER_HZ, which is 100 on all architectures of Node and ClickHouse. */
export const TICKS_PER_SECOND = 100;

export function parseProcStat(line: string): ProcStat {
  // The name in parentheses may contain spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  return {
    id: parseInt(line, 10),
    parent: at(1),
    group: at(2),
    session: at(3),
    cpuSeconds: (at(11) + at(12)) / TICKS_PER_SECOND,
    nice: at(16),
  };
}
