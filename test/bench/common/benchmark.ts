import type { ClosingStack } from "../../../deploy/process/closing.js";

/** A measurement of this program and of a peer. */
export interface Benchmark {
  /** The name in `bench <name>` and in the JSON results. */
  name: string;
  /** One line on what is measured beside which peer. */
  summary: string;
  run(options: BenchOptions, context: BenchContext): Promise<BenchResult>;
}

export const EVENT_LOGS = ["embedded", "kafka"] as const;
export type EventLogName = (typeof EVENT_LOGS)[number];

export interface BenchOptions {
  /** Number of lines, including broken ones. */
  events: number;
  seed: number;
  /** The event log; `kafka` measures it beside the embedded one. */
  log: EventLogName;
  /** How often this program and the peer are measured in turns. */
  rounds: number;
  /** Shares of overrides in percent; each is measured with each number of packages. */
  overrides: readonly number[];
  /** Numbers of packages that the lines name. */
  packages: readonly number[];
  /** Numbers of events that are stored before the next ones are measured. */
  stored: readonly number[];
  /** How many million events are stored before looking at them. */
  millions: number;
  /** How many client addresses the events have; undefined for the default of the benchmark. */
  addresses: number | undefined;
  /** The folder that keeps the stored events for the next run; undefined for none. */
  data: string | undefined;
  /** Whether to store 100 million events as well. */
  long: boolean;
  /** Number of small imports. */
  imports: number;
  /** Size of a body or a blob. */
  bytes: number;
  /** Requests per second. */
  rate: number;
  /** Page views of the dashboard per second. */
  views: number;
  /** Redirects of live collection per second. */
  redirects: number;
  /** How long requests are sent. */
  seconds: number;
}

export interface BenchContext {
  /** Closes everything that the benchmark opened, also when it is stopped. */
  open: ClosingStack;
  /** Takes a sentence on the current step. */
  onProgress: (sentence: string) => void;
}

export interface BenchResult {
  /** Tables with units, for a person. */
  text: string;
  /** The same numbers, under names that end with their units. */
  json: object;
}
