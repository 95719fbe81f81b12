import { availableParallelism } from "node:os";
import type { BenchResult } from "../common/benchmark.js";
import { megabytes, rounded, whole } from "../common/format-numbers.js";
import { median } from "../common/median.js";
import { PARTS } from "../usage/program-parts.js";
import { textTable } from "../common/text-table.js";
import type { MemoryPhase, MemorySample } from "./record-memory.js";

export interface MemoryRun {
  bytes: number;
  events: number;
  samples: readonly MemorySample[];
}

const ROWS_MAX = 20;

/** Idle: the last sample of a phase without an import. The halves of the import show whether memory grows with the body. */
export function memoryReport({ bytes, events, samples }: MemoryRun): BenchResult {
  const step = Math.ceil(samples.length / ROWS_MAX);
  const shown = samples.filter((_, index) => index % step === 0);
  const service = summaryOf(samples);
  const text =
    `memory: an import of ${megabytes(bytes)}, ${whole(events)} events, on ${availableParallelism()} cores\n\n` +
    `${textTable([HEADING, ...shown.map(rowOf)])}\n` +
    `  the program: idle before ${megabytes(service.idleBefore)}, largest ${megabytes(service.largest)}, ` +
    `median of the first half ${megabytes(service.firstHalf)}, of the second ${megabytes(service.secondHalf)}, ` +
    `idle after ${megabytes(service.idleAfter)}\n`;
  return { text, json: jsonOf({ bytes, events, samples }) };
}

function summaryOf(samples: readonly MemorySample[]) {
  const phaseOf = (phase: MemoryPhase) =>
    samples.filter((sample) => sample.phase === phase).map(({ residentBytes }) => residentBytes.service);
  const importing = phaseOf("import");
  const half = Math.ceil(importing.length / 2);
  return {
    idleBefore: phaseOf("before").at(-1) ?? 0,
    largest: Math.max(...importing),
    firstHalf: median(importing.slice(0, half)),
    secondHalf: median(importing.slice(-half)),
    idleAfter: phaseOf("after").at(-1) ?? 0,
  };
}

const HEADING = ["second", "", "program", "anonymous", "ClickHouse", "PostgreSQL"];

function rowOf({ seconds, phase, residentBytes, anonymousBytes }: MemorySample): string[] {
  const { service, clickhouse, postgres } = residentBytes;
  const bytes = [service, anonymousBytes.service, clickhouse, postgres];
  return [whole(seconds), phase, ...bytes.map(megabytes)];
}

function jsonOf({ bytes, events, samples }: MemoryRun): object {
  const { idleBefore, largest, firstHalf, secondHalf, idleAfter } = summaryOf(samples);
  return {
    bytes,
    events,
    service: {
      idle_before_bytes: idleBefore,
      resident_max_bytes: largest,
      first_half_median_bytes: firstHalf,
      second_half_median_bytes: secondHalf,
      idle_after_bytes: idleAfter,
    },
    samples: samples.map(({ seconds, phase, residentBytes, anonymousBytes }) => ({
      seconds: rounded(seconds),
      phase,
      ...Object.fromEntries(PARTS.map((part) => [`${part}_resident_bytes`, residentBytes[part]])),
      service_anonymous_bytes: anonymousBytes.service,
    })),
  };
}
