import { join } from "node:path";
import { KEPT_MS } from "../../../api/base/http/limit-work.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import type { BenchResult } from "../common/benchmark.js";
import { awaitMerges } from "../common/await-merges.js";
import { OWNER, createBenchAccount } from "../common/create-bench-account.js";
import { writeGzipFile } from "../common/event-files.js";
import { importFile } from "../common/import-file.js";
import { makePackage } from "../common/make-packages.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { pause } from "../../../schemas/async/pause.js";
import type { SentAtRate } from "../common/send-at-rate.js";
import { median } from "../common/median.js";
import { percentiles } from "../common/percentiles.js";
import { countAnswers } from "../common/rate-facts.js";
import { factTable, report } from "../common/report.js";
import { type PageClient, openPageClient } from "./page-client.js";
import { viewPages } from "./view-pages.js";

/** Page views of a package at a fixed rate, alone and beside an import, with the answer of the API as the peer. */
export const dashboardBenchmark = programBenchmark("dashboard", {
  summary: "latency of a package's page at --views a second, alone and beside an import, and its bytes",
  measure: runDashboard,
  report: dashboardReport,
});

/** The days of the generated events, and one more. */
const RANGE = "startDate=2025-01-15&endDate=2025-02-15";
const IMPORTED_SHARE = 0.2;
const WARM_UP_VIEWS = 5;

async function runDashboard(measured: MeasuredProgram): Promise<DashboardRun> {
  const { program, folder, events, seed, onProgress } = measured;
  const { api: url, clickhouse } = await program.ready();
  const token = await createBenchAccount(program.dataDir);
  const api = connectApi(url, token);
  const packageId = await makePackage(api, "bench");
  const path = join(folder, "events.ndjson.gz");
  onProgress(`importing ${events} events`);
  await writeGzipFile(path, { events, seed, packageIds: [packageId], gzipLevel: 1 });
  await importFile(api, { path, packageIds: [packageId] });
  const more = { events: Math.ceil(events * IMPORTED_SHARE), seed: seed + 1, startAt: events };
  await writeGzipFile(path, { ...more, packageIds: [packageId], gzipLevel: 1 });
  await awaitMerges(clickhouse);
  using client = await openPageClient(url, { username: OWNER, token });
  const page = `/dashboard/o/${OWNER}/packages/${packageId}?${RANGE}`;
  const sizes = await measureSizes(client, page);
  for (let view = 0; view < WARM_UP_VIEWS; view += 1) await client.get(page);
  const { views: perSecond, seconds } = measured;
  const viewing = (address: string) => viewPages(client, [address], { perSecond, seconds });
  onProgress(`${perSecond} page views/s for ${seconds} s`);
  const alone = await viewing(page);
  onProgress(`the same rate of the API's answer alone`);
  const statistics = `/dashboard/api/v2/${OWNER}/stats?package=${packageId}&${RANGE}&compare=previous`;
  const answers = await viewing(statistics);
  const one = await timeOne(client, page);
  const filtered = await timeOne(client, `${page}&country=DE`);
  onProgress(`page views beside an import of ${more.events} events`);
  const importing = importFile(api, { path, packageIds: [packageId] });
  importing.catch(() => undefined);
  const beside = await viewing(page);
  const { secondsToDone } = await importing;
  return { alone, answers, beside, oneMs: one, filteredMs: filtered, sizes, importSeconds: secondsToDone };
}

const ONE_OF = 9;
/** An answer is given again for a moment, or twice as long as it took: each of these is to be computed. */
const apartMs = (tookMs: number) => Math.max(KEPT_MS, 2 * tookMs) + 100;

/** The median time of a view when nothing else is asked for. */
async function timeOne(client: PageClient, path: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < ONE_OF; time += 1) {
    const startedAt = performance.now();
    const { status } = await client.get(path);
    if (status !== 200) throw new Error(`${path} was answered with ${status}`);
    const tookMs = performance.now() - startedAt;
    times.push(tookMs);
    await pause(apartMs(tookMs));
  }
  return median(times);
}

/** A first visit loads the page and all files that it names; a later one the page alone. */
async function measureSizes(client: PageClient, path: string): Promise<{ first: number; later: number }> {
  const { bytes, text } = await client.get(path);
  const named = [...text.matchAll(/(?:href|src)="([^"#]*\/assets\/[^"#]*)/g)].map(([, name = ""]) => name);
  const loaded = new Map<string, number>();
  for (const name of named) await load(client, name, loaded);
  const files = [...loaded.values()].reduce((sum, each) => sum + each, 0);
  return { first: bytes + files, later: bytes };
}

/** Scripts load others. */
async function load(client: PageClient, name: string, loaded: Map<string, number>): Promise<void> {
  if (loaded.has(name)) return;
  const { bytes, text } = await client.get(name);
  loaded.set(name, bytes);
  if (!name.endsWith(".js")) return;
  for (const [, other = ""] of text.matchAll(/ from "\.\/([^"]+)"/g))
    await load(client, name.replace(/[^/]+$/, other), loaded);
}

export interface DashboardRun {
  alone: SentAtRate;
  /** The same statistics as JSON, without a page. */
  answers: SentAtRate;
  beside: SentAtRate;
  /** Medians of single views, without and with a filter. */
  oneMs: number;
  filteredMs: number;
  /** Bytes over the wire. */
  sizes: { first: number; later: number };
  importSeconds: number;
}

export function dashboardReport(
  run: DashboardRun,
  { views, seconds, events }: { views: number; seconds: number; events: number },
): BenchResult {
  const [page, beside, api] = [run.alone, run.beside, run.answers].map((viewed) => ({
    latency_ms: percentiles(viewed.latenciesMs),
    answers: countAnswers([viewed]),
  })) as [object, object, object];
  const facts = {
    ...{ one_view_ms: run.oneMs, one_filtered_view_ms: run.filteredMs },
    ...{ first_visit_bytes: run.sizes.first, later_visit_bytes: run.sizes.later },
    import_seconds: run.importSeconds,
  };
  return report({
    title: `dashboard: ${views} page views/s for ${seconds} s, ${events} events in 31 days, latency from the due time,`,
    tables: [
      factTable("", [
        ["page", page],
        ["JSON of the API", api],
        ["page beside an import", beside],
      ]),
      factTable("", [["", facts]]),
    ],
    json: {
      ...{ views_per_second: views, seconds, events, page, page_beside_import: beside },
      ...{ peers: { api_json: api }, ...facts },
    },
  });
}
