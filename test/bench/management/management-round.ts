import type { Pool } from "pg";
import type { KeepAliveConnections } from "../common/keep-alive-connections.js";
import { readBusySeconds } from "../usage/machine-cpu.js";
import { sendAtRate, type Rate, type SentAtRate } from "../common/send-at-rate.js";
import type { MeasuredRun } from "../common/rate-facts.js";
import { raisePriority } from "../common/raise-priority.js";
import { sampleUsage } from "../usage/sample-usage.js";
import type { ManagementSetup } from "./management-setup.js";
import { ManagementMix } from "./management-mix.js";

export interface ManagementRound {
  /** Mixed requests. */
  ours: MeasuredRun;
  /** `GET /healthz` of the same program on the same connections: the cost of HTTP alone. */
  http: MeasuredRun;
  /** `select 1` on the same PostgreSQL with the connections of the API: the cost of the database alone. */
  select: MeasuredRun;
}

export interface RoundSetup extends ManagementSetup {
  /** Connections to the program's PostgreSQL. */
  pg: Pool;
  pid: number;
}

/** Measures mixed requests, then the two peers at the same rate. Throws when over 1 % of the answers are unexpected. */
export async function runManagementRound(
  { organizations, connections, pg, pid }: RoundSetup,
  { rate, seed }: { rate: Rate; seed: number },
): Promise<ManagementRound> {
  const mix = new ManagementMix(organizations, seed);
  const ours = await measure(pid, rate, (index) => sendMixed(connections, mix, index));
  requireExpected(ours);
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
  using sampler = sampleUsage(pid);
  using _ = raisePriority();
  const busyBefore = readBusySeconds();
  const sent = await sendAtRate(rate, send);
  return { ...sent, usage: sampler.finish(), machineCpuSeconds: readBusySeconds() - busyBefore };
}

/** Marks an answer with an unexpected status. */
async function sendMixed(
  connections: KeepAliveConnections,
  mix: ManagementMix,
  index: number,
): Promise<string> {
  const { request, status, onAnswered } = mix.next(index);
  const answer = await connections.send(request);
  if (answer.status !== status) return `${WRONG} ${answer.status} for ${status}`;
  onAnswered(answer);
  return String(status);
}

const WRONG = "wrong:";
const WRONG_SHARE_MAX = 0.01;

/** Rejects the result of a program that refuses requests, because that makes it fast. */
function requireExpected({ answers, latenciesMs }: SentAtRate): void {
  const counted = [...answers].filter(([answer]) => answer.startsWith(WRONG));
  const wrong = counted.reduce((total, [, count]) => total + count, 0);
  if (wrong <= latenciesMs.length * WRONG_SHARE_MAX) return;
  const which = counted.map(([answer, count]) => `${count} × ${answer}`).join(", ");
  throw new Error(`${wrong} of ${latenciesMs.length} answers were unexpected: ${which}`);
}

async function sendHealth(connections: KeepAliveConnections): Promise<string> {
  return String((await connections.send({ method: "GET", path: "/healthz" })).status);
}
