import { PARTS, readProgramParts, type Part, type PartProcess } from "../usage/program-parts.js";
import { secondsSince } from "../common/seconds-since.js";

export type MemoryPhase = "before" | "import" | "after";

/** Sums over the processes of each part. */
export interface MemorySample {
  /** Since the first sample. */
  seconds: number;
  phase: MemoryPhase;
  residentBytes: Record<Part, number>;
  anonymousBytes: Record<Part, number>;
}

export interface MemoryRecorder extends Disposable {
  readonly samples: readonly MemorySample[];
  startPhase(phase: MemoryPhase): void;
}

const SAMPLE_MS = 1_000;

/** Samples a program and its stores once a second until disposed of. */
export function recordMemory(rootPid: number): MemoryRecorder {
  const startedAt = performance.now();
  const samples: MemorySample[] = [];
  let phase: MemoryPhase = "before";
  const add = () => {
    samples.push({ seconds: secondsSince(startedAt), phase, ...memoryOf(readProgramParts(rootPid)) });
  };
  add();
  const timer = setInterval(add, SAMPLE_MS);
  return {
    samples,
    startPhase(next) {
      add();
      phase = next;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function memoryOf(processes: readonly PartProcess[]): Pick<MemorySample, "residentBytes" | "anonymousBytes"> {
  const sumOf = (field: "residentBytes" | "anonymousBytes") =>
    Object.fromEntries(
      PARTS.map((part) => [
        part,
        processes.filter((each) => each.part === part).reduce((sum, each) => sum + each[field], 0),
      ]),
    ) as Record<Part, number>;
  return { residentBytes: sumOf("residentBytes"), anonymousBytes: sumOf("anonymousBytes") };
}
