import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { rounded, timesOf } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { rateFacts, rateJson, rateRows } from "../common/rate-facts.js";
import { textTable } from "../common/text-table.js";
import type { CollectRound, RedirectRun } from "./collect-round.js";

export interface CollectFacts {
  rounds: readonly CollectRound[];
  /** Requests that were answered with a redirect, and how many of their events are stored. */
  sent: number;
  stored: number;
}

/** Medians over the rounds. The bare server is among the `others` that use the machine. */
export function collectReport(
  { rounds, sent, stored }: CollectFacts,
  { redirects, seconds, events }: { redirects: number; seconds: number; events: number },
): BenchResult {
  const ours = factsOf(rounds.map((round) => round.ours));
  const bare = factsOf(rounds.map((round) => round.bare));
  const table = textTable([
    ["", "this program", "bare node:http"],
    ...rateRows([ours, bare]),
    ["import, to done", ...[ours, bare].map(({ importSeconds }) => `${importSeconds.toFixed(1)} s`)],
  ]);
  return {
    text:
      `collect: ${redirects} redirects/s for ${seconds} s beside an import of ${events} lines, ` +
      `${timesOf(rounds.length)} on ${availableParallelism()} cores\n\n${table}\n` +
      `  ${stored} of ${sent} events are stored.\n`,
    json: {
      redirects_per_second: redirects,
      ...{ seconds, events, rounds: rounds.length },
      ...jsonOf(ours),
      events_sent: sent,
      events_stored: stored,
      peers: { bare_node_http: jsonOf(bare) },
      ratio: rounded(ours.latencyMs.p99 / bare.latencyMs.p99),
    },
  };
}

function factsOf(runs: readonly RedirectRun[]) {
  return { ...rateFacts(runs), importSeconds: median(runs.map(({ importSeconds }) => importSeconds)) };
}

function jsonOf(facts: ReturnType<typeof factsOf>) {
  return { ...rateJson(facts), import_seconds: rounded(facts.importSeconds) };
}
