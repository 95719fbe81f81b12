import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { parseProcStat } from "../../../../deploy/process/proc-stat.js";
import { startToolchain } from "../../../support/program/start-toolchain.js";

const WORKERS = 2;

test.skipIf(process.platform !== "linux")(
  "enrichment runs at a lower priority, and all other threads at that of the process",
  async () => {
    const toolchain = await startToolchain({ env: { ENRICH_WORKERS: String(WORKERS) } });
    try {
      const { pid } = toolchain;
      const own = getPriority(pid);
      const priorities = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
      const lowered = priorities.filter((priority) => priority !== own);
      expect(lowered).toEqual(Array.from({ length: WORKERS }, () => 19));
    } finally {
      await toolchain.close();
    }
  },
);

test.skipIf(process.platform !== "linux")(
  "the embedded ClickHouse is in the session of the program, where its lower priority counts, and not in its group",
  async () => {
    const toolchain = await startToolchain();
    try {
      const program = processFacts(toolchain.pid);
      const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
      const engines = pids.map(processFacts).filter((one) => one.parent === program.pid && one.isEngine);
      expect(engines).toHaveLength(1);
      const [engine] = engines;
      expect(engine).toMatchObject({ session: program.session, group: engine?.pid });
      expect(getPriority(engine?.pid)).toBe(19);
    } finally {
      await toolchain.close();
    }
  },
);

function processFacts(pid: number | string) {
  try {
    const { parent, group, session } = parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    const isEngine = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("clickhouse-child");
    return { pid: Number(pid), parent, group, session, isEngine };
  } catch {
    return { pid: Number(pid), isEngine: false }; // it has ended meanwhile
  }
}
