import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { median } from "../common/median.js";
import { textTable } from "../common/text-table.js";
import { rounded, timesOf } from "../common/format-numbers.js";

export interface WebhooksRound {
  /** Deliveries to receivers that answer. */
  deliveries: number;
  oursSeconds: number;
  /** Repeated deliveries. */
  again: number;
  peerSeconds: number;
}

/** Medians over the rounds. */
export function webhooksReport(rounds: readonly WebhooksRound[]): BenchResult {
  const ours = median(rounds.map(({ deliveries, oursSeconds }) => deliveries / oursSeconds));
  const peer = median(rounds.map(({ deliveries, peerSeconds }) => deliveries / peerSeconds));
  const again = rounds.reduce((total, round) => total + round.again, 0);
  const deliveries = rounds[0]?.deliveries ?? 0;
  const table = textTable([
    ["", "this program", "bare signed POSTs"],
    ["deliveries per second", ours.toFixed(0), peer.toFixed(0)],
    ["repeated", String(again), ""],
  ]);
  const text =
    `webhooks: ${deliveries} deliveries to nine receivers beside a dead one, ${timesOf(rounds.length)} on ` +
    `${availableParallelism()} cores\n\n${table}\n  ${(ours / peer).toFixed(2)} of the rate without an outbox and a log.\n`;
  const json = {
    deliveries,
    rounds: rounds.length,
    deliveries_per_second: rounded(ours),
    delivered_again: again,
    peers: { bare_posts: { deliveries_per_second: rounded(peer) } },
    ratio: rounded(ours / peer),
  };
  return { text, json };
}
