import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { megabytes, rounded, roundedAll, seconds, timesOf, whole } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { PARTS } from "../usage/program-parts.js";
import { textTable } from "../common/text-table.js";
import { cpuSecondsOf, larger, type PartUsage, type Usage } from "../usage/sample-usage.js";
import { PEER_NAME } from "./clickhouse-peer.js";
import type { ImportRound } from "./import-round.js";
import { nameOf, nameOfLines, type ImportVariant } from "./import-variants.js";

export interface MeasuredVariant {
  variant: ImportVariant;
  rounds: readonly ImportRound[];
}

/**
 * Medians of times and peaks of memory over the rounds. `ratio`: this program's events per second over the peer's.
 * `addresses`: those with many addresses over those with few.
 */
export function importReport(
  measured: readonly MeasuredVariant[],
  { events }: { events: number },
): BenchResult {
  const variants = measured.map((one) => factsOf(one, events));
  const compared = comparisonsOf(variants);
  const lines = compared.map(
    ({ variant, few, ratio }) =>
      `  ${whole(variant.addresses)} addresses at ${ratio.toFixed(2)} of the speed of ${whole(few)} ` +
      `(${nameOfLines(variant)}).\n`,
  );
  return {
    text: [...variants.map(textOf), lines.join("")].join("\n"),
    json: {
      ...{ events, rounds: measured[0]?.rounds.length ?? 0, variants: variants.map(jsonOf) },
      addresses: compared.map(({ variant: { overridesPercent, packages, addresses }, few, ratio }) => ({
        ...{ overrides_percent: overridesPercent, packages, many: addresses, few, ratio: rounded(ratio) },
      })),
    },
  };
}

/** The same lines with the fewest addresses and with more. */
function comparisonsOf(variants: readonly ImportFacts[]) {
  return variants.flatMap(({ variant, secondsToDone }) => {
    const { overridesPercent, packages, addresses } = variant;
    const few = variants.find(
      ({ variant: other }) =>
        other.overridesPercent === overridesPercent &&
        other.packages === packages &&
        other.addresses < addresses,
    );
    if (few === undefined) return [];
    return [{ variant, few: few.variant.addresses, ratio: few.secondsToDone / secondsToDone }];
  });
}

interface ImportFacts {
  variant: ImportVariant;
  events: number;
  rounds: number;
  plainBytes: number;
  gzipBytes: number;
  secondsToAnswer: number;
  secondsToDone: number;
  inserts: number;
  peerSeconds: number;
  ratio: number;
  usage: Usage;
  peerUsage: Usage;
}

function factsOf({ variant, rounds }: MeasuredVariant, events: number): ImportFacts {
  const ours = rounds.map((round) => round.ours);
  const peer = rounds.map((round) => round.peer);
  const secondsToDone = median(ours.map((run) => run.secondsToDone));
  const peerSeconds = median(peer.map((run) => run.seconds));
  return {
    variant,
    events,
    rounds: rounds.length,
    plainBytes: rounds[0]?.plainBytes ?? 0,
    gzipBytes: rounds[0]?.gzipBytes ?? 0,
    secondsToAnswer: median(ours.map((run) => run.secondsToAnswer)),
    secondsToDone,
    inserts: median(ours.map((run) => run.inserts)),
    peerSeconds,
    ratio: peerSeconds / secondsToDone,
    usage: combined(ours.map((run) => run.usage)),
    peerUsage: combined(peer.map((run) => run.usage)),
  };
}

function combined(usages: readonly Usage[]): Usage {
  const ofPart = (part: (typeof PARTS)[number]): PartUsage => ({
    ...usages.map((usage) => usage[part]).reduce(larger),
    cpuSeconds: median(usages.map((usage) => usage[part].cpuSeconds)),
  });
  const ofThread = (thread: keyof Usage["threads"]) => median(usages.map(({ threads }) => threads[thread]));
  return {
    service: ofPart("service"),
    clickhouse: ofPart("clickhouse"),
    postgres: ofPart("postgres"),
    threads: { main: ofThread("main"), enrichment: ofThread("enrichment"), other: ofThread("other") },
    client: { cpuSeconds: median(usages.map((usage) => usage.client.cpuSeconds)) },
  };
}

function textOf(facts: ImportFacts): string {
  const {
    events,
    rounds,
    plainBytes,
    gzipBytes,
    secondsToAnswer,
    secondsToDone,
    inserts,
    peerSeconds,
    ratio,
  } = facts;
  const of = `${whole(events)} events (${megabytes(plainBytes)}, gzip ${megabytes(gzipBytes)})`;
  const times = textTable([
    ["", "this program", PEER_NAME],
    ["time to the 200 answer", seconds(secondsToAnswer), seconds(peerSeconds)],
    ["time to done", seconds(secondsToDone), seconds(peerSeconds)],
    ["events per second", whole(events / secondsToDone), whole(events / peerSeconds)],
    ["ratio", ratio.toFixed(2), "1"],
    ["rows of an insert", whole(events / inserts), ""],
  ]);
  return (
    `import, ${nameOf(facts.variant)}: ${of}, ${timesOf(rounds)} ` +
    `on ${availableParallelism()} cores\n\n${times}\n${cpuTable(facts)}\n${memoryTable(facts)}`
  );
}

function cpuTable({ events, usage, peerUsage }: ImportFacts): string {
  const ours = perMillion(cpuSecondsOf(usage), events);
  const peer = perMillion(cpuSecondsOf(peerUsage), events);
  return textTable([
    ["CPU per million events", "this program", PEER_NAME],
    ...Object.entries(CPU_NAMES).map(([key, name]) => [
      name,
      seconds(ours[key] ?? 0),
      seconds(peer[key] ?? 0),
    ]),
  ]);
}

const CPU_NAMES: Record<keyof ReturnType<typeof cpuSecondsOf>, string> = {
  service: "program",
  main_thread: "  main thread",
  enrichment_threads: "  enrichment threads",
  other_threads: "  other threads",
  clickhouse: "ClickHouse",
  postgres: "PostgreSQL",
  client: "sender",
};

function memoryTable({ usage }: ImportFacts): string {
  return textTable([
    ["memory", "resident before", "largest", "anonymous", "peak since start"],
    ...PARTS.map((part) => {
      const { residentBeforeBytes, residentMaxBytes, anonymousMaxBytes, residentPeakBytes } = usage[part];
      const bytes = [residentBeforeBytes, residentMaxBytes, anonymousMaxBytes, residentPeakBytes];
      return [part, ...bytes.map(megabytes)];
    }),
  ]);
}

function jsonOf(facts: ImportFacts) {
  const { variant, events, secondsToAnswer, secondsToDone, inserts } = facts;
  const { peerSeconds, ratio, usage, peerUsage } = facts;
  return {
    overrides_percent: variant.overridesPercent,
    packages: variant.packages,
    addresses: variant.addresses,
    seconds_to_answer: rounded(secondsToAnswer),
    seconds_to_done: rounded(secondsToDone),
    inserts,
    events_per_second: Math.round(events / secondsToDone),
    peer: {
      name: PEER_NAME,
      seconds: rounded(peerSeconds),
      events_per_second: Math.round(events / peerSeconds),
      memory: memoryOf(peerUsage),
      cpu_seconds_per_million: perMillion(cpuSecondsOf(peerUsage), events),
    },
    ratio: rounded(ratio),
    memory: memoryOf(usage),
    cpu_seconds_per_million: perMillion(cpuSecondsOf(usage), events),
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

function perMillion(cpuSeconds: Record<string, number>, events: number): Record<string, number> {
  const shares = Object.entries(cpuSeconds).map(([name, value]) => [name, (value * 1e6) / events]);
  return roundedAll(Object.fromEntries(shares) as Record<string, number>);
}
