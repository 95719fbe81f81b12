import type { LinesToCheck } from "../../api/imports/check-lines.js";
import type { LineTally } from "../../enrich/lines/tally-lines.js";
import type { ProblemCode } from "../../schemas/problem.js";
import type { EventRetention } from "../../schemas/event-retention.js";
import type { LogLevel } from "../process/log.js";

/** The `workerData` of the thread that checks the lines of dry runs. */
export interface CheckThreadData {
  postgresUrl: string;
  eventRetention: EventRetention;
  logLevel: LogLevel;
}

/** A Problem, as it passes between threads; without a code another error. */
export interface CheckFailure {
  code?: ProblemCode;
  message: string;
  retryAfterSeconds?: number | undefined;
}

export type ToCheck = { stop: true } | { id: number; lines: LinesToCheck };
export type FromCheck =
  | { ready: true }
  | { id: number; tally: LineTally }
  | { id: number; failure: CheckFailure };
