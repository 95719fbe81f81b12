import type { BenchResult } from "../common/benchmark.js";
import { megabytes, whole } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { factLines, factTable, report } from "../common/report.js";
import type { MemoryPhase, MemorySample } from "./record-memory.js";

export interface MemoryRun {
  bytes: number;
  events: number;
  samples: readonly MemorySample[];
}

const ROWS_MAX = 20;

/** Idle: the last sample of a phase without an import. The halves of the import show whether memory grows with the body. */
export function memoryReport({ bytes, events, samples }: MemoryRun): BenchResult {
  const service = summaryOf(samples);
  const facts = samples.map(factsOf);
  const step = Math.ceil(samples.length / ROWS_MAX);
  const shown = facts.filter((_, index) => index % step === 0);
  return report({
    title: `memory: an import of ${megabytes(bytes)}, ${whole(events)} events,`,
    tables: [
      factLines(
        "second",
        shown.map(({ seconds, ...sample }) => [whole(seconds), sample]),
      ),
      factTable("", [["the program", service]]),
    ],
    json: { bytes, events, service, samples: facts },
  });
}

function summaryOf(samples: readonly MemorySample[]) {
  const phaseOf = (phase: MemoryPhase) =>
    samples.filter((sample) => sample.phase === phase).map(({ residentBytes }) => residentBytes.service);
  const importing = phaseOf("import");
  const half = Math.ceil(importing.length / 2);
  return {
    idle_before_bytes: phaseOf("before").at(-1) ?? 0,
    resident_max_bytes: Math.max(...importing),
    first_half_median_bytes: median(importing.slice(0, half)),
    second_half_median_bytes: median(importing.slice(-half)),
    idle_after_bytes: phaseOf("after").at(-1) ?? 0,
  };
}

function factsOf({ seconds, phase, residentBytes, anonymousBytes }: MemorySample) {
  return {
    ...{ seconds, phase },
    service_resident_bytes: residentBytes.service,
    clickhouse_resident_bytes: residentBytes.clickhouse,
    postgres_resident_bytes: residentBytes.postgres,
    service_anonymous_bytes: anonymousBytes.service,
  };
}
