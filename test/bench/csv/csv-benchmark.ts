import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { BenchResult } from "../common/benchmark.js";
import { runCsvRound, type CsvRound } from "./csv-round.js";
import { fillEvents } from "./fill-events.js";
import { createBenchAccount, OWNER } from "../common/create-bench-account.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import { timesOf } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factTable, report } from "../common/report.js";
import { type CurlRun, megabytesPerSecond } from "../common/run-curl.js";
import { runAdmin } from "../../support/program/run-admin.js";
import { programBenchmark, type MeasuredProgram } from "../common/measure-program.js";
import type { PackageV1 } from "../../../schemas/contracts/package.js";

/** A month of events as CSV, beside curl of the same query from the same ClickHouse. */
export const csvBenchmark = programBenchmark("csv", {
  summary:
    "throughput and first byte of a CSV of --events events, beside curl of the same query from ClickHouse",
  // Enrichment loads its lookup tables in threads of the same process; idle, they are no part of an export.
  variables: { ENRICH_WORKERS: "1" },
  measure: runRounds,
  report: csvReport,
});

async function runRounds({ program, events, rounds, onProgress }: MeasuredProgram): Promise<CsvRound[]> {
  const { api: url, clickhouse: clickhouseUrl } = await program.ready();
  const token = await createBenchAccount(program.dataDir);
  await runAdmin(["grant-export", OWNER], { DATA_DIR: program.dataDir });
  const api = connectApi(url, token);
  const { uuid: packageId } = await api.post<PackageV1>("/v1/packages", {
    name: "bench",
    shortDescription: "Made by the benchmark",
  });
  await using clickhouse = connectClickHouse(clickhouseUrl);
  onProgress(`inserting ${events} events`);
  await fillEvents(clickhouse, { packageId, events });
  const setup = { api, clickhouseUrl, packageId, pid: program.pid };
  onProgress("warming up");
  await runCsvRound(setup);
  const done: CsvRound[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    onProgress(`round ${round} of ${rounds}: ours, then curl`);
    done.push(await runCsvRound(setup));
  }
  return done;
}

/** `ratio`: our throughput over that of curl from ClickHouse. */
export function csvReport(rounds: readonly CsvRound[], { events }: { events: number }): BenchResult {
  const { ours, clickhouse, ratio, first_byte_later_ms } = overRounds(
    rounds.map((round) => ({
      ours: curlFacts(round.ours),
      clickhouse: curlFacts(round.clickhouse),
      ratio: megabytesPerSecond(round.ours) / megabytesPerSecond(round.clickhouse),
      first_byte_later_ms: (round.ours.firstByteSeconds - round.clickhouse.firstByteSeconds) * 1000,
    })),
  );
  return report({
    title: `csv: ${events} events, ${timesOf(rounds.length)}`,
    tables: [
      factTable("", [
        ["this program", ours],
        ["curl from ClickHouse", clickhouse],
      ]),
    ],
    notes: [
      `${ratio.toFixed(2)} of the throughput of curl from ClickHouse, the first byte ${first_byte_later_ms.toFixed(0)} ms later.`,
    ],
    json: {
      events,
      rounds: rounds.length,
      ...ours,
      peers: { clickhouse_curl: clickhouse },
      ratio,
      first_byte_later_ms,
    },
  });
}

/** The memory of the program has the lookup tables of enrichment, which runs in the same process. */
function curlFacts(run: CurlRun) {
  const { cpuSeconds, residentBeforeBytes, residentMaxBytes } = run.usage.service;
  return {
    throughput_mb_per_second: megabytesPerSecond(run),
    first_byte_ms: run.firstByteSeconds * 1000,
    service_cpu_cores: cpuSeconds / run.seconds,
    service_resident_before_bytes: residentBeforeBytes,
    service_resident_max_bytes: residentMaxBytes,
  };
}
