import { KEPT_MS } from "../../../api/base/http/limit-work.js";
import { connectApi } from "../../../deploy/demo/api-client.js";
import { pause } from "../../../schemas/async/pause.js";
import type { CompanyRecord } from "../../../schemas/contracts/funnel.js";
import { awaitMerges } from "../common/await-merges.js";
import type { Benchmark, BenchContext, BenchOptions, BenchResult } from "../common/benchmark.js";
import { OWNER } from "../common/create-bench-account.js";
import { type MeasuredProgram, measureProgram } from "../common/measure-program.js";
import { runAdmin } from "../../support/program/run-admin.js";
import { queryByCurl, runCurlOnce } from "../common/run-curl.js";
import { secondsSince } from "../common/seconds-since.js";
import type { SentAtRate } from "../common/send-at-rate.js";
import { openPageClient } from "../dashboard/page-client.js";
import { viewPages } from "../dashboard/view-pages.js";
import { sampleUsage } from "../usage/sample-usage.js";
import { awaitAddressSets } from "./await-address-sets.js";
import { bareStatements } from "./bare-statements.js";
import { type LookRun, type Looked, lookReport } from "./look-report.js";
import { type LookRequest, pagesOf, requestsOf } from "./look-requests.js";
import { readTableSizes } from "./read-table-sizes.js";
import { importFirst, type StoredEvents, storeEvents } from "./store-events.js";

/** Answers and pages over many stored events, in turns with statements over `events` on the same ClickHouse. */
export const lookBenchmark: Benchmark = {
  name: "look",
  summary:
    "statistics, exports and pages over --millions stored events, 5 times a round, beside bare statements of ClickHouse; " +
    "then pages at --views a second beside an import",
  run: runLookBenchmark,
};

const TURNS = 5;
/** Only when asked to, and so not in the middle of a measurement. */
const NO_SCHEDULE = { FUNNEL_SCHEDULE: "0 0 1 1 *" };

async function runLookBenchmark(options: BenchOptions, context: BenchContext): Promise<BenchResult> {
  const program = { ...options, ...context, folder: options.data, variables: NO_SCHEDULE };
  return lookReport(await measureProgram(program, runLook));
}

async function runLook(measured: MeasuredProgram): Promise<LookRun> {
  const { program, rounds, onProgress } = measured;
  const { clickhouse } = await program.ready();
  using sampler = sampleUsage(program.pid);
  const startedAt = performance.now();
  const stored = await storeEvents(measured);
  const storing = { seconds: secondsSince(startedAt), usage: sampler.finish() };
  await awaitMerges(clickhouse);
  const atRest = performance.now();
  onProgress("waiting for the sets of addresses of all days");
  const withoutSet = await awaitAddressSets(clickhouse);
  const sets = { seconds: secondsSince(atRest), days_without_set: withoutSet };
  await runAdmin(["funnel", "run"], { DATA_DIR: program.dataDir });
  const company = await largestCompany(measured, stored);
  const look = await openLook(measured, stored, company);
  const looked: Looked[] = [];
  for (let turn = 0; turn < rounds * TURNS; turn += 1) {
    onProgress(`turn ${turn + 1} of ${rounds * TURNS}`);
    looked.push(...(await look(turn)));
    // Equal requests share an answer for a moment: each of these is to be computed.
    await pause(KEPT_MS);
  }
  const tables = await readTableSizes(clickhouse);
  onProgress("page views beside an import of a million events");
  return { stored, storing, sets, tables, looked, viewed: await viewBesideImport(measured, stored, company) };
}

/** Takes a turn: every request, page and statement once. */
async function openLook(
  { program }: MeasuredProgram,
  stored: StoredEvents,
  company: string,
): Promise<(turn: number) => Promise<Looked[]>> {
  const { pid } = program;
  const { api: url, clickhouse } = await program.ready();
  const { token } = stored;
  const { cookie } = await openPageClient(url, { username: OWNER, token });
  const get = (sender: string, { path, headers }: LookRequest) =>
    runCurlOnce(pid, [`${url}${path}`, "-H", sender, ...(headers === undefined ? [] : ["-H", headers])]);
  return async (turn) => {
    const looked: Looked[] = [];
    for (const each of requestsOf(stored, turn))
      looked.push({
        group: "answers",
        name: each.name,
        ...(await get(`Authorization: Bearer ${token}`, each)),
      });
    for (const each of pagesOf(stored, turn, company))
      looked.push({ group: "pages", name: each.name, ...(await get(`Cookie: ${cookie}`, each)) });
    for (const each of bareStatements(stored, turn))
      looked.push({
        group: "bare",
        name: each.name,
        status: 200,
        ...(await queryByCurl(pid, clickhouse, each)),
      });
    return looked;
  };
}

/** Each of the pages is viewed as often as the others. */
async function viewBesideImport(
  { program, views: perSecond, seconds }: MeasuredProgram,
  stored: StoredEvents,
  company: string,
): Promise<SentAtRate> {
  const { api: url } = await program.ready();
  const { token } = stored;
  using client = await openPageClient(url, { username: OWNER, token });
  const paths = pagesOf(stored, 0, company).map(({ path }) => path);
  const importing = importFirst(connectApi(url, token), stored);
  importing.catch(() => undefined);
  const viewed = await viewPages(client, paths, { perSecond, seconds });
  await importing;
  return viewed;
}

async function largestCompany({ program }: MeasuredProgram, { token }: StoredEvents): Promise<string> {
  const { api: url } = await program.ready();
  const path = `/v2/${OWNER}/companies?per_page=1`;
  const { companies } = await connectApi(url, token).get<{ companies: CompanyRecord[] }>(path);
  return companies[0]?.domain ?? "";
}
