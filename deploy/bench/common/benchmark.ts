import type { ClosingStack } from "../../process/closing-stack.js";

/** One thing that is measured, and what it is measured against. */
export interface Benchmark {
  /** As in `bench <name>`, and the key of its result. */
  name: string;
  /** What is measured beside which peer, in one line. */
  summary: string;
  run(options: BenchOptions, surroundings: BenchSurroundings): Promise<BenchResult>;
}

export const EVENT_LOGS = ["embedded", "kafka"] as const;
export type EventLogName = (typeof EVENT_LOGS)[number];

export interface BenchOptions {
  /** Lines, broken ones included. */
  events: number;
  seed: number;
  /** Of the program; `kafka` measures it beside the embedded one. */
  log: EventLogName;
  /** How often ours and the peer take turns. */
  rounds: number;
  /** Requests per second. */
  rate: number;
  /** Redirects of live collection per second. */
  redirects: number;
  /** How long requests are sent at that rate. */
  seconds: number;
}

export interface BenchSurroundings {
  /** Closes what the benchmark opened, also when it is stopped halfway. */
  open: ClosingStack;
  /** Takes a sentence on what is going on. */
  tell: (sentence: string) => void;
}

export interface BenchResult {
  /** Tables with units, for a person. */
  text: string;
  /** The same numbers, in names that end with their units. */
  json: object;
}
