import { join } from "node:path";
import type { DataDir } from "../process/data-dir.js";
import { isServerOf } from "../stores/embedded/find-servers.js";
import { endOrphans } from "../stores/embedded/orphans.js";

/** Each takes no more than this in all: a start that is broken off ends within a second or so. */
const SIGNALS = [
  { signal: "SIGINT", patienceMs: 700 },
  { signal: "SIGQUIT", patienceMs: 300 },
  { signal: "SIGKILL", patienceMs: 1_000 },
] as const;

/**
 * Ends the embedded servers of a start that is not complete, and gives the data directory free. The caller then exits:
 * what else was begun is left as by a crash, from which the next start goes on.
 */
export async function breakOffStart(dataDir: DataDir): Promise<void> {
  await Promise.allSettled([
    endOrphans(join(dataDir.path, "postgres"), {
      name: "PostgreSQL",
      isServer: isServerOf.PostgreSQL,
      signals: SIGNALS,
    }),
    endOrphans(join(dataDir.path, "clickhouse"), {
      name: "ClickHouse",
      isServer: isServerOf.ClickHouse,
      signals: SIGNALS.slice(-1),
    }),
  ]);
  await dataDir[Symbol.asyncDispose]();
}
