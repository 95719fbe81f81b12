import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { awaitMerges } from "../common/await-merges.js";
import type { ImportSetup } from "../import/import-round.js";
import { makePackage } from "../common/make-packages.js";
import { readBusySeconds } from "../usage/machine-cpu.js";
import type { MeasuredRun } from "../common/rate-facts.js";
import { importFile } from "../common/import-file.js";
import { openRawConnections } from "./raw-connections.js";
import { sendAtRate, type Rate } from "../common/send-at-rate.js";
import { raisePriority } from "../common/raise-priority.js";
import { sampleUsage } from "../usage/sample-usage.js";

/** Redirects at a fixed rate, and the import that ran beside them. */
export interface RedirectRun extends MeasuredRun {
  importSeconds: number;
}

export interface CollectRound {
  ours: RedirectRun;
  /** A server on Node's HTTP that does nothing but redirect. */
  bare: RedirectRun;
}

export interface CollectSetup extends Omit<ImportSetup, "metricsUrl"> {
  collectUrl: string;
  /** A gzip file of events of the package. */
  file: string;
  events: number;
  packageId: string;
}

/** As many as browsers and package clients behind one proxy keep. */
const CONNECTIONS = 64;

/** Ours and then the peer, each at the same rate while the same lines are imported. */
export async function runCollectRound(setup: CollectSetup, rate: Rate): Promise<CollectRound> {
  const ours = await measureRedirects(setup, { rate, url: setup.collectUrl });
  const peer = fork(fileURLToPath(new URL("./bare-redirects.js", import.meta.url)));
  try {
    const [url] = (await once(peer, "message")) as [string];
    return { ours, bare: await measureRedirects(setup, { rate, url }) };
  } finally {
    peer.kill("SIGKILL");
  }
}

const WRONG_SHARE_MAX = 0.001;

async function measureRedirects(
  setup: CollectSetup,
  { rate, url }: { rate: Rate; url: string },
): Promise<RedirectRun> {
  await awaitMerges(setup.clickhouseUrl);
  using connections = await openRawConnections(url, CONNECTIONS);
  const importing = importFile(setup.api, { path: setup.file, packageIds: [setup.packageId] });
  // It is waited for below; until then a failure is nobody's.
  importing.catch(() => undefined);
  using sampler = sampleUsage(setup.pid);
  using _ = raisePriority();
  const busyBefore = readBusySeconds();
  const sent = await sendAtRate(rate, (index) => connections.send(redirectRequest(index)));
  const usage = sampler.finish();
  const machineCpuSeconds = readBusySeconds() - busyBefore;
  const redirects = sent.answers.get("307") ?? 0;
  if (redirects < sent.latenciesMs.length * (1 - WRONG_SHARE_MAX))
    throw new Error(`${redirects} of ${sent.latenciesMs.length} answers were redirects`);
  return { ...sent, usage, machineCpuSeconds, importSeconds: (await importing).secondsToDone };
}

const HOSTS = 16;
const AGENTS = ["curl/8.9.1", "Wget/1.24.5", "pip/24.2", "node-fetch/3", "Mozilla/5.0 (X11; Linux x86_64)"];
const REQUESTS = Array.from({ length: 500 }, (_, index) =>
  Buffer.from(
    `GET /get/1.${index % 40}.0/linux-x64/tool-${index}.tar.gz?utm=bench HTTP/1.1\r\n` +
      `Host: ${hostName(index % HOSTS)}\r\nUser-Agent: ${AGENTS[index % AGENTS.length]}\r\nAccept: */*\r\n\r\n`,
  ),
);

function redirectRequest(index: number): Buffer {
  return REQUESTS[index % REQUESTS.length] ?? Buffer.alloc(0);
}

function hostName(index: number): string {
  return `files-${index}.bench.example`;
}

/** File packages with a route and a domain each; answers their ids. */
export async function makeRedirectPackages({ api }: Pick<ImportSetup, "api">): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < HOSTS; index++) {
    const id = await makePackage(api, `redirects-${index}`);
    const route = {
      templatePath: "/get/{version}/{+file}",
      outgoingUrl: "https://files.example.org/{+file}",
    };
    await api.post(`/v1/packages/${id}/routes`, route);
    await api.post(`/v1/packages/${id}/domains`, { name: hostName(index) });
    ids.push(id);
  }
  return ids;
}

export function gzipFile(folder: string): string {
  return join(folder, "events.ndjson.gz");
}
