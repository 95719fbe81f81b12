import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { pino } from "pino";
import { StartFailure } from "../../process/start-failure.js";
import { connectClickHouse } from "../../stores/clickhouse/connect-clickhouse.js";
import { connectPostgres } from "../../stores/postgres/connect-postgres.js";
import type { Benchmark, BenchOptions, BenchResult, BenchSurroundings } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { spawnProgram, type Program } from "../common/spawn-program.js";
import { makeTemporaryFolder } from "../common/temporary-folder.js";
import { watchUsage } from "../common/watch-usage.js";
import { makeFunnelGround } from "./funnel-ground.js";
import { funnelReport, type FunnelRound, type MeasuredPass } from "./funnel-report.js";

/** A process of its own each time, whose whole life is measured. */
export const funnelBenchmark: Benchmark = {
  name: "funnel",
  summary: "1,000 owners with 200,000 companies placed, beside ClickHouse only adding up the same activity",
  run: runFunnelBenchmark,
};

/** Not while this is measured. */
const NEVER = { FUNNEL_SCHEDULE: "0 0 29 2 *" };

async function runFunnelBenchmark(
  { rounds }: BenchOptions,
  { open, tell }: BenchSurroundings,
): Promise<BenchResult> {
  const { path: folder } = open.use(makeTemporaryFolder());
  const program = open.use(spawnProgram(join(folder, "data"), NEVER));
  tell(`starting the program in ${folder}`);
  return funnelReport(await program.whileRunning(runRounds(program, { rounds, tell })));
}

async function runRounds(
  program: Program,
  { rounds, tell }: { rounds: number; tell: (sentence: string) => void },
): Promise<FunnelRound[]> {
  const { postgres, clickhouse: url } = await program.ready();
  const pg = connectPostgres({ url: postgres, connectionsMax: 2, log: pino({ level: "silent" }) });
  const clickhouse = connectClickHouse(url);
  try {
    tell("making owners, packages and what companies did with them");
    await createBenchAccount(program.dataDir);
    await makeFunnelGround({ pg, clickhouse });
    const done: FunnelRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      tell(`round ${round} of ${rounds}: all companies are new, then none, then the peer`);
      await forgetCompanies(pg);
      const first = await measurePass(program);
      const again = await measurePass(program);
      done.push({ first, again, peerSeconds: await measurePeer(clickhouse) });
    }
    return done;
  } finally {
    await Promise.all([pg.end(), clickhouse.close()]);
  }
}

async function forgetCompanies(pg: Pool): Promise<void> {
  await pg.query("truncate funnel_runs, funnel_waits, funnel_companies, funnel_changes, funnel_growth");
}

/** `admin funnel run` beside the program, from its start to its end. */
async function measurePass(program: Program): Promise<MeasuredPass> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, "admin", "funnel", "run"], {
    env: { ...process.env, DATA_DIR: program.dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => said.push(part));
  using watch = watchUsage(child.pid ?? -1);
  using stores = watchUsage(program.pid);
  const status = await new Promise((resolve) => child.once("close", resolve));
  const seconds = (performance.now() - startedAt) / 1000;
  const sentence = Buffer.concat(said).toString().trim();
  if (status !== 0) throw new StartFailure(`admin funnel run ended with ${String(status)}: ${sentence}`);
  const { clickhouse, postgres } = stores.finish();
  const { residentPeakBytes } = watch.finish().service;
  return {
    ...{ seconds, sentence, residentPeakBytes },
    clickhouseCpuSeconds: clickhouse.cpuSeconds,
    postgresCpuSeconds: postgres.cpuSeconds,
    clickhouseAddedBytes: clickhouse.residentMaxBytes - clickhouse.residentBeforeBytes,
  };
}

const MAIN = fileURLToPath(new URL("../../main.js", import.meta.url));

/** What no pass can do without: every row is read and added up. */
async function measurePeer(clickhouse: ClickHouseClient): Promise<number> {
  const startedAt = performance.now();
  await clickhouse.command({
    query: `
      SELECT artifact, company_domain, date, kind, sum(total)
      FROM company_activity GROUP BY artifact, company_domain, date, kind FORMAT Null`,
  });
  return (performance.now() - startedAt) / 1000;
}
