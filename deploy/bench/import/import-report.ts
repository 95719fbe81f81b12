import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { median } from "../common/median.js";
import { PARTS } from "../common/program-parts.js";
import { textTable } from "../common/text-table.js";
import { larger, type PartUsage, type Usage } from "../common/sample-usage.js";
import { PEER_NAME } from "./clickhouse-peer.js";
import type { ImportRound } from "./import-round.js";

/** Medians of times and peaks of memory over the rounds. `ratio`: this program's events per second over the peer's. */
export function importReport(rounds: readonly ImportRound[], { events }: { events: number }): BenchResult {
  const ours = rounds.map((round) => round.ours);
  const peer = rounds.map((round) => round.peer);
  const secondsToDone = median(ours.map((run) => run.secondsToDone));
  const peerSeconds = median(peer.map((run) => run.seconds));
  const facts: ImportFacts = {
    events,
    rounds: rounds.length,
    plainBytes: rounds[0]?.plainBytes ?? 0,
    gzipBytes: rounds[0]?.gzipBytes ?? 0,
    secondsToAnswer: median(ours.map((run) => run.secondsToAnswer)),
    secondsToDone,
    peerSeconds,
    ratio: peerSeconds / secondsToDone,
    usage: combined(ours.map((run) => run.usage)),
    peerUsage: combined(peer.map((run) => run.usage)),
  };
  return { text: textOf(facts), json: jsonOf(facts) };
}

interface ImportFacts {
  events: number;
  rounds: number;
  plainBytes: number;
  gzipBytes: number;
  secondsToAnswer: number;
  secondsToDone: number;
  peerSeconds: number;
  ratio: number;
  usage: Usage;
  peerUsage: Usage;
}

function combined(usages: readonly Usage[]): Usage {
  const ofPart = (part: (typeof PARTS)[number]): PartUsage => ({
    ...usages.map((usage) => usage[part]).reduce(larger),
    cpuSeconds: median(usages.map((usage) => usage[part].cpuSeconds)),
  });
  return {
    service: ofPart("service"),
    clickhouse: ofPart("clickhouse"),
    postgres: ofPart("postgres"),
    client: { cpuSeconds: median(usages.map((usage) => usage.client.cpuSeconds)) },
  };
}

function textOf(facts: ImportFacts): string {
  const { events, rounds, plainBytes, gzipBytes, secondsToAnswer, secondsToDone, peerSeconds, ratio } = facts;
  const of = `${whole(events)} events (${megabytes(plainBytes)}, gzip ${megabytes(gzipBytes)})`;
  const times = textTable([
    ["", "this program", PEER_NAME],
    ["time to the 200 answer", seconds(secondsToAnswer), seconds(peerSeconds)],
    ["time to done", seconds(secondsToDone), seconds(peerSeconds)],
    ["events per second", whole(events / secondsToDone), whole(events / peerSeconds)],
    ["ratio", ratio.toFixed(2), "1"],
  ]);
  return (
    `import: ${of}, ${rounds === 1 ? "1 round" : `medians of ${rounds} rounds`} on ${availableParallelism()} cores\n` +
    `\n${times}\n${usageTable(facts)}`
  );
}

function usageTable({ usage, peerUsage }: ImportFacts): string {
  const rows = PARTS.map((part) => {
    const { residentBeforeBytes, residentMaxBytes, anonymousMaxBytes, residentPeakBytes, cpuSeconds } =
      usage[part];
    const memory = [residentBeforeBytes, residentMaxBytes, anonymousMaxBytes, residentPeakBytes].map(
      megabytes,
    );
    return [part, ...memory, seconds(cpuSeconds), seconds(peerUsage[part].cpuSeconds)];
  });
  return textTable([
    ["", "resident before", "largest", "anonymous", "peak since start", "CPU", "CPU of the peer"],
    ...rows,
    ["client", "", "", "", "", seconds(usage.client.cpuSeconds), seconds(peerUsage.client.cpuSeconds)],
  ]);
}

function jsonOf({
  events,
  rounds,
  secondsToAnswer,
  secondsToDone,
  peerSeconds,
  ratio,
  usage,
  peerUsage,
}: ImportFacts) {
  return {
    events,
    rounds,
    seconds_to_answer: rounded(secondsToAnswer),
    seconds_to_done: rounded(secondsToDone),
    events_per_second: Math.round(events / secondsToDone),
    peer: {
      name: PEER_NAME,
      seconds: rounded(peerSeconds),
      events_per_second: Math.round(events / peerSeconds),
      memory: memoryOf(peerUsage),
      cpu_seconds: cpuSecondsOf(peerUsage),
    },
    ratio: rounded(ratio),
    memory: memoryOf(usage),
    cpu_seconds: cpuSecondsOf(usage),
  };
}

function memoryOf(usage: Usage) {
  return Object.fromEntries(
    PARTS.map((part) => {
      const { residentBeforeBytes, residentMaxBytes, anonymousMaxBytes, residentPeakBytes } = usage[part];
      const memory = {
        resident_before_bytes: residentBeforeBytes,
        resident_max_bytes: residentMaxBytes,
        anonymous_max_bytes: anonymousMaxBytes,
        resident_peak_since_start_bytes: residentPeakBytes,
      };
      return [part, memory];
    }),
  );
}

function cpuSecondsOf({ service, clickhouse, postgres, client }: Usage) {
  return {
    service: rounded(service.cpuSeconds),
    clickhouse: rounded(clickhouse.cpuSeconds),
    postgres: rounded(postgres.cpuSeconds),
    client: rounded(client.cpuSeconds),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}

function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}

function megabytes(bytes: number): string {
  return `${whole(bytes / 1_000_000)} MB`;
}
