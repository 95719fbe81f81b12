import { join } from "node:path";
import type { BenchContext, Benchmark, BenchOptions, BenchResult } from "./benchmark.js";
import { spawnProgram, type Program } from "./spawn-program.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

/** The options of a benchmark, and the program that it measures. */
export interface MeasuredProgram extends BenchOptions, BenchContext {
  program: Program;
  /** A folder for event files, beside the data of the program. */
  folder: string;
}

interface ProgramOptions extends BenchOptions, BenchContext {
  /** Keeps the data of the program. A temporary folder if absent. */
  folder?: string | undefined;
  /** Set for the program. */
  variables?: NodeJS.ProcessEnv;
}

interface ProgramBenchmark<Result> extends Pick<Benchmark, "summary"> {
  /** Set for the program. */
  variables?: NodeJS.ProcessEnv;
  measure: (measured: MeasuredProgram) => Promise<Result>;
  report: (result: Result, options: BenchOptions) => BenchResult;
}

/** A benchmark that starts the program once. */
export function programBenchmark<Result>(
  name: string,
  { summary, variables = {}, measure, report }: ProgramBenchmark<Result>,
): Benchmark {
  return {
    name,
    summary,
    run: async (options, context) =>
      report(await measureProgram({ ...options, ...context, variables }, measure), options),
  };
}

/** Starts the program and waits for `measure`. Rejects when the program ends before that. */
export function measureProgram<Result>(
  { variables, folder: kept, ...bench }: ProgramOptions,
  measure: (measured: MeasuredProgram) => Promise<Result>,
): Promise<Result> {
  const folder = kept ?? bench.open.use(makeTemporaryFolder()).path;
  const program = bench.open.use(spawnProgram(join(folder, "data"), variables));
  bench.onProgress(`starting the program in ${folder}`);
  return program.whileRunning(measure({ ...bench, program, folder }));
}
