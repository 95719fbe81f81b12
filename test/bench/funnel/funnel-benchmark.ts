import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { pino } from "pino";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import type { BenchResult } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { timesOf } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factTable, report } from "../common/report.js";
import type { Program } from "../common/spawn-program.js";
import { sampleUsage } from "../usage/sample-usage.js";
import { secondsSince } from "../common/seconds-since.js";
import { makeFunnelSetup } from "./funnel-setup.js";

/** Measures `admin funnel run` as a process, from start to exit. */
export const funnelBenchmark = programBenchmark("funnel", {
  summary: "1,000 owners with 200,000 companies placed, beside ClickHouse only adding up the same activity",
  // Keeps the schedule from running during the measurement.
  variables: { FUNNEL_SCHEDULE: "0 0 29 2 *" },
  measure: runRounds,
  report: funnelReport,
});

async function runRounds({ program, rounds, onProgress }: MeasuredProgram): Promise<FunnelRound[]> {
  const { postgres, clickhouse: url } = await program.ready();
  const pg = connectPostgres({ url: postgres, connectionsMax: 2, log: pino({ level: "silent" }) });
  const clickhouse = connectClickHouse(url);
  try {
    onProgress("creating owners, packages and activity of companies");
    await createBenchAccount(program.dataDir);
    await makeFunnelSetup(pg, clickhouse);
    const done: FunnelRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      onProgress(`round ${round} of ${rounds}: all companies are new, then none, then the peer`);
      await forgetCompanies(pg);
      const all_new = await measurePass(program);
      const no_news = await measurePass(program);
      done.push({ all_new, no_news, clickhouse_sum: { seconds: await measurePeer(clickhouse) } });
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
    ...{ seconds, sentence, resident_peak_bytes: residentPeakBytes },
    clickhouse_added_bytes: clickhouse.residentMaxBytes - clickhouse.residentBeforeBytes,
    clickhouse_cpu_seconds: clickhouse.cpuSeconds,
    postgres_cpu_seconds: postgres.cpuSeconds,
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

/** One run for all owners, as JSON. */
export interface MeasuredPass {
  seconds: number;
  /** The output of the command. */
  sentence: string;
  /** The peak memory of its process. */
  resident_peak_bytes: number;
  /** The growth of ClickHouse's memory during the run. */
  clickhouse_added_bytes: number;
  clickhouse_cpu_seconds: number;
  postgres_cpu_seconds: number;
}

export interface FunnelRound {
  /** Every company is new. */
  all_new: MeasuredPass;
  /** Nothing has changed. */
  no_news: MeasuredPass;
  /** The peer. */
  clickhouse_sum: { seconds: number };
}

/** `ratio`: seconds of a run without changes over the peer's. */
export function funnelReport(rounds: readonly FunnelRound[]): BenchResult {
  const { all_new, no_news, clickhouse_sum } = overRounds(rounds);
  const ratio = no_news.seconds / clickhouse_sum.seconds;
  const [{ sentence: first, ...news }, { sentence: again, ...none }] = [all_new, no_news];
  const measured = { "all new": news, "no news": none, "ClickHouse adds up": clickhouse_sum };
  return report({
    title: `funnel: one run over everything, ${timesOf(rounds.length)}`,
    tables: [factTable("", Object.entries(measured))],
    notes: [first, again, `A run without news takes ${ratio.toFixed(1)} times as long as adding up alone.`],
    json: { all_new: news, no_news: none, peers: { clickhouse_sum }, ratio },
  });
}
