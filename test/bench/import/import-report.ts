import type { BenchResult } from "../common/benchmark.js";
import { timesOf, whole } from "../common/format-numbers.js";
import { overRounds } from "../common/median.js";
import { factTable, report } from "../common/report.js";
import { cpuSecondsOf, memoryOf, type Usage } from "../usage/sample-usage.js";
import { PEER_NAME } from "./clickhouse-peer.js";
import type { ImportRound } from "./import-round.js";
import { nameOf, nameOfLines, type ImportVariant } from "./import-variants.js";

export interface MeasuredVariant {
  variant: ImportVariant;
  rounds: readonly ImportRound[];
}

/**
 * `ratio`: this program's events per second over the peer's. `addresses`: those with many addresses over those with few.
 */
export function importReport(
  measured: readonly MeasuredVariant[],
  { events }: { events: number },
): BenchResult {
  const variants = measured.map((one) => factsOf(one, events));
  const compared = comparisonsOf(variants);
  const rounds = measured[0]?.rounds.length ?? 0;
  return report({
    title: `import: ${whole(events)} events, ${timesOf(rounds)}`,
    tables: variants.map(({ variant, ours, peer }) =>
      factTable(nameOf(variant), [
        ["this program", ours],
        [PEER_NAME, peer],
      ]),
    ),
    notes: compared.map(
      ({ variant, few, ratio }) =>
        `${whole(variant.addresses)} addresses at ${ratio.toFixed(2)} of the speed of ${whole(few)} (${nameOfLines(variant)}).`,
    ),
    json: {
      ...{ events, rounds },
      variants: variants.map(({ variant, ours, peer }) => ({
        ...{ ...jsonOf(variant), addresses: variant.addresses, ...ours },
        peer: { name: PEER_NAME, ...peer },
      })),
      addresses: compared.map(({ variant, few, ratio }) => ({
        ...{ ...jsonOf(variant), many: variant.addresses, few, ratio },
      })),
    },
  });
}

type VariantFacts = ReturnType<typeof factsOf>;

function factsOf({ variant, rounds }: MeasuredVariant, events: number) {
  const { times, ours, peer } = overRounds(
    rounds.map((round) => ({
      times: {
        ...{ plain_bytes: round.plainBytes, gzip_bytes: round.gzipBytes },
        seconds_to_answer: round.ours.secondsToAnswer,
        seconds_to_done: round.ours.secondsToDone,
        inserts: round.ours.inserts,
      },
      ours: usageFacts(round.ours.usage, events),
      peer: { seconds: round.peer.seconds, ...usageFacts(round.peer.usage, events) },
    })),
  );
  const { seconds, ...peerUsage } = peer;
  return {
    variant,
    ours: {
      ...{ ...times, events_per_second: events / times.seconds_to_done },
      ratio: seconds / times.seconds_to_done,
      rows_of_an_insert: Math.round(events / times.inserts),
      ...ours,
    },
    peer: { seconds, events_per_second: events / seconds, ...peerUsage },
  };
}

function usageFacts(usage: Usage, events: number) {
  return { cpu_seconds_per_million: cpuSecondsOf(usage, 1e6 / events), memory: memoryOf(usage) };
}

/** The same lines with the fewest addresses and with more. */
function comparisonsOf(variants: readonly VariantFacts[]) {
  return variants.flatMap(({ variant, ours }) => {
    const few = variants.find(
      ({ variant: other }) =>
        nameOfLines(other) === nameOfLines(variant) && other.addresses < variant.addresses,
    );
    if (few === undefined) return [];
    const ratio = few.ours.seconds_to_done / ours.seconds_to_done;
    return [{ variant, few: few.variant.addresses, ratio }];
  });
}

function jsonOf({ overridesPercent, packages }: ImportVariant) {
  return { overrides_percent: overridesPercent, packages };
}
