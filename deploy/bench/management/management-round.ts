import type { Pool } from "pg";
import type { KeptConnections } from "../common/kept-connections.js";
import { readBusySeconds } from "../common/machine-cpu.js";
import { sendAtRate, type Rate, type SentAtRate } from "../common/send-at-rate.js";
import { takePrecedence } from "../common/take-precedence.js";
import { watchUsage, type Usage } from "../common/watch-usage.js";
import type { ManagementGround } from "./management-ground.js";
import { ManagementMix } from "./management-mix.js";

export interface MeasuredRun extends SentAtRate {
  usage: Usage;
  /** What all processes of the machine used meanwhile, these included: others make everything late. */
  machineCpuSeconds: number;
}

export interface ManagementRound {
  /** Mixed requests. */
  ours: MeasuredRun;
  /** `GET /healthz` of the same program on the same connections: HTTP without the API. */
  http: MeasuredRun;
  /** `select` on the same PostgreSQL from as many connections as requests have: the database without HTTP. */
  select: MeasuredRun;
}

export interface RoundGround extends ManagementGround {
  /** Of the program's PostgreSQL. */
  pg: Pool;
  pid: number;
}

/** Mixed requests, then the two peers, each at the same rate. Throws when more than one answer of a hundred is a wrong one. */
export async function runManagementRound(
  { organizations, connections, pg, pid }: RoundGround,
  { rate, seed }: { rate: Rate; seed: number },
): Promise<ManagementRound> {
  const mix = new ManagementMix(organizations, seed);
  const ours = await measure(pid, rate, (index) => sendMixed(connections, mix, index));
  requireGood(ours);
  const http = await measure(pid, rate, () => sendHealth(connections));
  const select = await measure(pid, rate, async () => {
    await pg.query("select 1");
    return "row";
  });
  return { ours, http, select };
}

async function measure(
  pid: number,
  rate: Rate,
  send: (index: number) => Promise<string>,
): Promise<MeasuredRun> {
  using watch = watchUsage(pid);
  using _ = takePrecedence();
  const busyBefore = readBusySeconds();
  const sent = await sendAtRate(rate, send);
  return { ...sent, usage: watch.finish(), machineCpuSeconds: readBusySeconds() - busyBefore };
}

/** Another status than the good one is marked as such. */
async function sendMixed(connections: KeptConnections, mix: ManagementMix, index: number): Promise<string> {
  const { request, status, onAnswered } = mix.next(index);
  const answer = await connections.send(request);
  if (answer.status !== status) return `${WRONG} ${answer.status} for ${status}`;
  onAnswered(answer);
  return String(status);
}

const WRONG = "wrong:";
const WRONG_SHARE_MAX = 0.01;

/** A program that refuses is fast: that must not pass for a result. */
function requireGood({ answers, latenciesMs }: SentAtRate): void {
  const counted = [...answers].filter(([answer]) => answer.startsWith(WRONG));
  const wrong = counted.reduce((total, [, count]) => total + count, 0);
  if (wrong <= latenciesMs.length * WRONG_SHARE_MAX) return;
  const which = counted.map(([answer, count]) => `${count} × ${answer}`).join(", ");
  throw new Error(`${wrong} of ${latenciesMs.length} requests were not answered well: ${which}`);
}

async function sendHealth(connections: KeptConnections): Promise<string> {
  return String((await connections.send({ method: "GET", path: "/healthz" })).status);
}
