import { parentPort, workerData } from "node:worker_threads";
import { openLineCheck } from "../../api/imports/check-lines.js";
import { openArtifactResolver } from "../../api/imports/artifact-resolver.js";
import { Problem } from "../../schemas/problem.js";
import { oldestTime } from "../../schemas/event-retention.js";
import { createLog } from "../process/log.js";
import { lowerPriority } from "../process/thread-priority.js";
import { untilStopped } from "../process/until-stopped.js";
import { connectPostgres } from "../stores/postgres/connect-postgres.js";
import type { CheckFailure, CheckThreadData, FromCheck, ToCheck } from "./check-messages.js";

const CONNECTIONS_MAX = 1;

/** Checks lines until the main thread sends `{ stop: true }`. */
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
