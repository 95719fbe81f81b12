import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { pino } from "pino";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import type { BenchContext, BenchOptions, BenchResult, Benchmark } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { type MeasuredProgram, measureProgram } from "../common/measure-program.js";
import type { Program } from "../common/spawn-program.js";
import { sampleUsage } from "../usage/sample-usage.js";
import { secondsSince } from "../common/seconds-since.js";
import { makeFunnelSetup } from "./funnel-setup.js";
import { type FunnelRound, type MeasuredPass, funnelReport } from "./funnel-report.js";

/** Measures `admin funnel run` as a process, from start to exit. */
export const funnelBenchmark: Benchmark = {
  name: "funnel",
  summary: "1,000 owners with 200,000 companies placed, beside ClickHouse only adding up the same activity",
  run: runFunnelBenchmark,
};

/** Keeps the schedule from running during the measurement. */
const NEVER = { FUNNEL_SCHEDULE: "0 0 29 2 *" };

async function runFunnelBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  return funnelReport(await measureProgram({ ...options, ...context, variables: NEVER }, runRounds));
}

async function runRounds({ program, rounds, onProgress }: MeasuredProgram): Promise<FunnelRound[]> {
  const { postgres, clickhouse: url } = await program.ready();
  const pg = connectPostgres({ url: postgres, connectionsMax: 2, log: pino({ level: "silent" }) });
  const clickhouse = connectClickHouse(url);
  try {
    onProgress("creating owners, packages and activity of companies");
    await createBenchAccount(program.dataDir);
    await makeFunnelSetup({ pg, clickhouse });
    const done: FunnelRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      onProgress(`round ${round} of ${rounds}: all companies are new, then none, then the peer`);
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

/** Runs `admin funnel run` beside the program and measures the whole process. */
async function measurePass(program: Program): Promise<MeasuredPass> {
  const startedAt = performance.now();
  const child = spawn(MAIN, ["admin", "funnel", "run"], {
    env: { ...process.env, DATA_DIR: program.dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => output.push(part));
  using sampler = sampleUsage(child.pid ?? -1);
  using stores = sampleUsage(program.pid);
  const status = await new Promise((resolve) => child.once("close", resolve));
  const seconds = secondsSince(startedAt);
  const sentence = Buffer.concat(output).toString().trim();
  if (status !== 0) throw new StartFailure(`admin funnel run ended with ${String(status)}: ${sentence}`);
  const { clickhouse, postgres } = stores.finish();
  const { residentPeakBytes } = sampler.finish().service;
  return {
    ...{ seconds, sentence, residentPeakBytes },
    clickhouseCpuSeconds: clickhouse.cpuSeconds,
    postgresCpuSeconds: postgres.cpuSeconds,
    clickhouseAddedBytes: clickhouse.residentMaxBytes - clickhouse.residentBeforeBytes,
  };
}

const MAIN = fileURLToPath(new URL("../../../dist/deploy/main.js", import.meta.url));

/** The least work of any pass: reads and sums every row. */
async function measurePeer(clickhouse: ClickHouseClient): Promise<number> {
  const startedAt = performance.now();
  await clickhouse.command({
    query: `
      SELECT artifact, company_domain, date, kind, sum(total)
      FROM company_activity GROUP BY artifact, company_domain, date, kind FORMAT Null`,
  });
  return secondsSince(startedAt);
}
