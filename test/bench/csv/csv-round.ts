import { spawn } from "node:child_process";
import { once } from "node:events";
import { composeEvents } from "../../../aggregate/queries/events/open-events.js";
import { DATABASE } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { sampleUsage, type Usage } from "../usage/sample-usage.js";

/** One answer as curl read it. */
export interface CurlRun {
  bytes: number;
  seconds: number;
  firstByteSeconds: number;
  usage: Usage;
}

/** Our answer, and that of the query which the program asked ClickHouse for it. */
export interface CsvRound {
  ours: CurlRun;
  clickhouse: CurlRun;
}

export interface CsvSetup {
  api: ApiClient;
  /** With credentials. */
  clickhouseUrl: string;
  packageId: string;
  pid: number;
}

export async function runCsvRound({ api, clickhouseUrl, packageId, pid }: CsvSetup): Promise<CsvRound> {
  const { startDate, endDate } = MONTH;
  const path = `/v1/packages/${packageId}/events/bench.csv?startDate=${startDate}&endDate=${endDate}`;
  const ours = await runCurl(pid, [`${api.url}${path}`, "-H", `Authorization: Bearer ${api.token}`]);
  const artifacts = [{ id: packageId, packageName: "bench" }];
  const asked = { ...MONTH, artifacts, unsettled: SETTLED, format: "csv" as const };
  const { query, params, settings } = await composeEvents(asked, { rows: 0, restored: 0 });
  const { origin, username, password } = new URL(clickhouseUrl);
  const search = new URLSearchParams({
    database: DATABASE,
    ...textsOf(params, "param_"),
    ...textsOf(settings),
  });
  const user = ["-H", `X-ClickHouse-User: ${username}`, "-H", `X-ClickHouse-Key: ${password}`];
  const peer = await runCurl(pid, [`${origin}/?${search.toString()}`, ...user, "--data-binary", "@-"], query);
  if (peer.bytes !== ours.bytes)
    throw new StartFailure(`The export has ${ours.bytes} bytes, and that of ClickHouse ${peer.bytes}.`);
  return { ours, clickhouse: peer };
}

function textsOf(values: object, prefix = ""): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, String(value)]));
}

const MONTH = { startDate: "2025-03-01", endDate: "2025-04-01" };
const SETTLED = { imports: [], fromVersion: "0", retracted: [], changed: false };
const WRITTEN = "%{http_code} %{size_download} %{time_starttransfer} %{time_total}";

/** Reads a whole answer, and samples the program of this process id. */
export async function runCurl(pid: number, args: readonly string[], input = ""): Promise<CurlRun> {
  using sampler = sampleUsage(pid);
  const child = spawn("curl", ["-sS", "-g", "-o", "/dev/null", "-w", WRITTEN, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(input);
  let written = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (written += text));
  const [status] = (await once(child, "close")) as [number | null];
  const [code, bytes = 0, firstByteSeconds = 0, seconds = 0] = written.split(" ").map(Number);
  if (status !== 0 || code !== 200) throw new StartFailure(`curl ended with ${status}, status ${code}.`);
  return { bytes, seconds, firstByteSeconds, usage: sampler.finish() };
}
