import { parentPort, workerData } from "node:worker_threads";
import { openArtifactResolver } from "../../api/features/imports/artifact-resolver.js";
import { type CheckedLines, type LinesToCheck, openLineCheck } from "../../api/features/imports/dry-run.js";
import { type EventRetention, oldestTime } from "../../schemas/event-retention.js";
import { Problem, type ProblemCode } from "../../schemas/problem.js";
import { untilStopped } from "../process/lifecycle.js";
import { type LogLevel, createLog } from "../process/log.js";
import { lowerPriority } from "../process/thread-priority.js";
import { connectPostgres } from "../stores/connect-postgres.js";

const CONNECTIONS_MAX = 1;

async function main({ postgresUrl, eventRetention, logLevel }: CheckThreadData): Promise<void> {
  lowerPriority();
  const pg = connectPostgres({
    url: postgresUrl,
    connectionsMax: CONNECTIONS_MAX,
    log: createLog({ level: logLevel }),
  });
  const checkLines = openLineCheck(openArtifactResolver(pg), oldestTime(eventRetention));
  const { signal } = new AbortController();
  const stopped = untilStopped<ToCheck>(({ id, lines }) => {
    checkLines(lines, signal).then(
      (tally) => send({ id, tally }),
      (error: unknown) => send({ id, failure: failureOf(error) }),
    );
  });
  send({ ready: true });
  await stopped;
  await pg.end();
}

function send(message: FromCheck): void {
  parentPort?.postMessage(message);
}

function failureOf(error: unknown): CheckFailure {
  if (!(error instanceof Problem)) return { message: String(error) };
  const { code, message, retryAfterSeconds } = error;
  return { code, message, retryAfterSeconds };
}

await main(workerData as CheckThreadData);
process.exit();

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
  | { id: number; tally: CheckedLines }
  | { id: number; failure: CheckFailure };
