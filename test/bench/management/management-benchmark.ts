import { pino } from "pino";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import type { BenchResult } from "../common/benchmark.js";
import { openKeepAliveConnections } from "../common/keep-alive-connections.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { timesOf } from "../common/format-numbers.js";
import { countAnswers, rateFacts } from "../common/rate-facts.js";
import { factTable, report } from "../common/report.js";
import { makeManagementSetup } from "./management-setup.js";
import { type ManagementRound, runManagementRound } from "./management-round.js";

/** Mixed requests at a fixed rate, beside requests and queries without any work at the same rate. */
export const managementBenchmark = programBenchmark("management", {
  summary: "latency of mixed requests at --rate, beside GET /healthz and SELECT 1 at the same rate",
  // Logs each request.
  variables: { LOG_LEVEL: "info" },
  measure: runRounds,
  report: managementReport,
});

/** As many as callers and their proxies keep open. Further requests wait for a connection. */
const CONNECTIONS_MAX = 64;
const QUERIES_AT_ONCE_MAX = 16;
const WARM_UP_SECONDS = 5;

async function runRounds(measured: MeasuredProgram): Promise<ManagementRound[]> {
  const { program, rate: perSecond, seconds, seed, rounds, onProgress } = measured;
  const { api, postgres: url } = await program.ready();
  using connections = openKeepAliveConnections(api, CONNECTIONS_MAX);
  const log = pino({ level: "silent" });
  const pg = connectPostgres({ url, connectionsMax: QUERIES_AT_ONCE_MAX, log });
  try {
    const setup = await makeManagementSetup(program.dataDir, connections);
    const { pid } = program;
    const runRound = (seconds: number, seed: number) =>
      runManagementRound({ ...setup, pg, pid }, { rate: { perSecond, seconds }, seed });
    onProgress(`warming up for three times ${WARM_UP_SECONDS} s`);
    await runRound(WARM_UP_SECONDS, seed);
    const done: ManagementRound[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      onProgress(
        `round ${round} of ${rounds}: ${perSecond} requests/s, this program and the two peers, ${seconds} s each`,
      );
      done.push(await runRound(seconds, seed + round));
    }
    return done;
  } finally {
    await pg.end();
  }
}

/** Answers of all rounds. `ratio`: this program's p99 over that of `GET /healthz`. */
export function managementReport(
  rounds: readonly ManagementRound[],
  { rate, seconds }: { rate: number; seconds: number },
): BenchResult {
  const factsOf = (name: keyof ManagementRound) => {
    const runs = rounds.map((round) => round[name]);
    return { ...rateFacts(runs), answers: countAnswers(runs) };
  };
  const [ours, http, select] = [factsOf("ours"), factsOf("http"), factsOf("select")];
  const ratio = ours.latency_ms.p99 / http.latency_ms.p99;
  const peers = { http_healthz: http, postgres_select: select };
  return report({
    title: `management: ${rate} requests/s for ${seconds} s, latency from the due time, ${timesOf(rounds.length)}`,
    tables: [
      factTable("", [
        ["this program", ours],
        ["GET /healthz", http],
        ["SELECT 1", select],
      ]),
    ],
    notes: [`p99 is ${ratio.toFixed(1)} times that of GET /healthz.`],
    json: { rate_per_second: rate, seconds, rounds: rounds.length, ...ours, peers, ratio },
  });
}
