import { pause } from "../../../schemas/async/pause.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import type { BenchResult } from "../common/benchmark.js";
import { gzipFile, makeRedirectPackages, runCollectRound } from "./collect-round.js";
import type { CollectRound, RedirectRun } from "./collect-round.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { writeGzipFile } from "../common/event-files.js";
import { makePackage } from "../common/make-packages.js";
import { timesOf } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { readRows } from "../common/read-rows.js";
import { rateFacts } from "../common/rate-facts.js";
import { factTable, report } from "../common/report.js";
import { programBenchmark, type MeasuredProgram } from "../common/measure-program.js";

/** Redirects of live collection while events are imported, beside a server that does nothing else. */
export const collectBenchmark = programBenchmark("collect", {
  summary: "latency of --redirects a second while --events are imported, beside a bare node:http server",
  measure: runRounds,
  report: collectReport,
});

const WARM_UP_EVENTS = 60_000;
const WARM_UP_SECONDS = 3;
const STORED_MS_MAX = 60_000;

async function runRounds(measured: MeasuredProgram): Promise<CollectFacts> {
  const { program, folder, events, seed, seconds, onProgress } = measured;
  const { rounds: times, redirects: perSecond } = measured;
  const { api: apiUrl, collect: collectUrl, clickhouse: clickhouseUrl } = await program.ready();
  const api = connectApi(apiUrl, await createBenchAccount(program.dataDir));
  const packageId = await makePackage(api, "imported");
  const collected = await makeRedirectPackages({ api });
  const file = gzipFile(folder);
  const setup = { api, clickhouseUrl, pid: program.pid, folder, collectUrl, file, packageId };
  // A new package is served within a second.
  await pause(1_000);
  onProgress(`warming both sides up for ${WARM_UP_SECONDS} s`);
  await writeGzipFile(file, { events: WARM_UP_EVENTS, seed: seed + 1, packageIds: [packageId] });
  await runCollectRound({ ...setup, events: WARM_UP_EVENTS }, { perSecond, seconds: WARM_UP_SECONDS });
  await writeGzipFile(file, { events, seed, packageIds: [packageId] });
  const rounds: CollectRound[] = [];
  for (let round = 1; round <= times; round += 1) {
    onProgress(
      `round ${round} of ${times}: ${perSecond} redirects/s beside an import of ${events} lines, then the peer`,
    );
    rounds.push(await runCollectRound({ ...setup, events }, { perSecond, seconds }));
  }
  const sent = perSecond * (seconds * times + WARM_UP_SECONDS);
  return { rounds, sent, stored: await countStored(clickhouseUrl, collected, sent) };
}

/** A collector that forgets is fast: waits until as many events are stored as were answered, or no more come. */
async function countStored(
  clickhouseUrl: string,
  packages: readonly string[],
  sent: number,
): Promise<number> {
  const query = "SELECT sum(sign) AS stored FROM events WHERE artifact IN {packages:Array(UUID)}";
  for (const deadline = performance.now() + STORED_MS_MAX; ; await pause(500)) {
    const [row] = await readRows<{ stored: string }>(clickhouseUrl, query, { params: { packages } });
    const stored = Number(row?.stored);
    if (stored >= sent || performance.now() > deadline) return stored;
  }
}

export interface CollectFacts {
  rounds: readonly CollectRound[];
  /** Requests that were answered with a redirect, and how many of their events are stored. */
  sent: number;
  stored: number;
}

/** `ratio`: of the p99. The bare server is among the `others` that use the machine. */
export function collectReport(
  { rounds, sent, stored }: CollectFacts,
  { redirects, seconds, events }: { redirects: number; seconds: number; events: number },
): BenchResult {
  const factsOf = (runs: readonly RedirectRun[]) => {
    const import_seconds = median(runs.map(({ importSeconds }) => importSeconds));
    return { ...rateFacts(runs), import_seconds };
  };
  const [ours, bare] = [
    factsOf(rounds.map((round) => round.ours)),
    factsOf(rounds.map((round) => round.bare)),
  ];
  return report({
    title:
      `collect: ${redirects} redirects/s for ${seconds} s beside an import of ${events} lines, ` +
      timesOf(rounds.length),
    tables: [
      factTable("", [
        ["this program", ours],
        ["bare node:http", bare],
      ]),
    ],
    notes: [`${stored} of ${sent} events are stored.`],
    json: {
      ...{ redirects_per_second: redirects, seconds, events, rounds: rounds.length, ...ours },
      ...{ events_sent: sent, events_stored: stored, peers: { bare_node_http: bare } },
      ratio: ours.latency_ms.p99 / bare.latency_ms.p99,
    },
  });
}
