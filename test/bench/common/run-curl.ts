import { spawn } from "node:child_process";
import { once } from "node:events";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { DATABASE } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { sampleUsage, type Usage } from "../usage/sample-usage.js";

/** One answer as curl read it. */
export interface CurlRun {
  bytes: number;
  seconds: number;
  firstByteSeconds: number;
  usage: Usage;
}

export function megabytesPerSecond({ bytes, seconds }: CurlRun): number {
  return bytes / 1e6 / seconds;
}

/** Reads a whole answer, and samples the program of this process id. Throws unless the status is 200. */
export async function runCurl(pid: number, args: readonly string[], input = ""): Promise<CurlRun> {
  const run = await runCurlOnce(pid, args, input);
  if (run.status !== 200) throw new StartFailure(`curl got status ${run.status}.`);
  return run;
}

const WRITTEN = "%{http_code} %{size_download} %{time_starttransfer} %{time_total}";

/** The same with any status. */
export async function runCurlOnce(
  pid: number,
  args: readonly string[],
  input = "",
): Promise<CurlRun & { status: number }> {
  using sampler = sampleUsage(pid);
  const child = spawn("curl", ["-sS", "-g", "-o", "/dev/null", "-w", WRITTEN, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(input);
  let written = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (written += text));
  const [exit] = (await once(child, "close")) as [number | null];
  if (exit !== 0) throw new StartFailure(`curl ended with ${exit}.`);
  const [status = 0, bytes = 0, firstByteSeconds = 0, seconds = 0] = written.split(" ").map(Number);
  return { status, bytes, seconds, firstByteSeconds, usage: sampler.finish() };
}

interface Query {
  query: string;
  params: Readonly<Record<string, unknown>>;
  settings?: object;
}

/** Reads a result from the ClickHouse of a URL with credentials. */
export function queryByCurl(
  pid: number,
  url: string,
  { query, params, settings = {} }: Query,
): Promise<CurlRun> {
  const { origin, username, password } = new URL(url);
  const search = new URLSearchParams({
    database: DATABASE,
    ...textsOf(params, "param_"),
    ...textsOf(settings),
  });
  const user = ["-H", `X-ClickHouse-User: ${username}`, "-H", `X-ClickHouse-Key: ${password}`];
  return runCurl(pid, [`${origin}/?${search.toString()}`, ...user, "--data-binary", "@-"], query);
}

function textsOf(values: object, prefix = ""): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, String(value)]));
}
