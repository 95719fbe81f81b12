import type { EventLoopUtilization } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { settlesWithin, pause } from "../../schemas/async/pause.js";
import { StartFailure } from "./start-failure.js";

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** Half a minute of starts without success. A restart of the process may then help, such as with a blocked event log. */
const STARTS_MAX = 6;
const STOP_IN_START_MS_MAX = 3_000;

export interface ThreadOptions<Received extends object> {
  /** The module that the thread runs. It sends `{ ready: true }`, perhaps with more fields, once it works. */
  module: URL;
  name: string;
  /** The subject of log messages and errors, such as "an enrichment worker". */
  label: string;
  log: Logger;
  data: () => object;
  onMessage: (message: Received) => void;
  /** Called after each end of the thread, also after a failure. */
  onEnded?: () => void;
  /** The pause before the first restart. It doubles with each further one, up to 30 s. */
  firstPauseMs?: number;
  /** Whether a start may hang, such as with an unavailable broker. Disposal then terminates a start after 3 s. */
  mayHangInStart?: boolean;
}

export interface SupervisedThread<Sent extends object> extends AsyncDisposable {
  /** Resolves when the thread is ready for the first time. Rejects when it ends before that; it is not restarted then. */
  ready: Promise<void>;
  /** Resolves with the reason when restarting was given up. */
  lost: Promise<Error>;
  /** False while the thread starts, and after it has ended. */
  isReady(): boolean;
  /** The share of time, 0 to 1, in which its event loop was not idle since the last call. */
  utilization(): number;
  /** Sends a message. It is lost while no thread runs. */
  send(message: Sent): void;
  /** Sends `{ stop: true }`, and resolves when the thread has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Runs a module on a thread of its own. Restarts the thread after a pause when it ends by itself. */
export function superviseThread<Sent extends object, Received extends object>(
  options: ThreadOptions<Received>,
): SupervisedThread<Sent> {
  const { log, name, label, firstPauseMs = FIRST_PAUSE_MS, mayHangInStart = false } = options;
  const stopping = new AbortController();
  let current: Worker | undefined;
  let measured: EventLoopUtilization | undefined;
  let isReady = false;
  let wasReady = false;
  let failedStarts = 0;
  let markReady = (): void => undefined;
  let markFailed = (_: Error): void => undefined;
  let giveUp = (_: Error): void => undefined;
  const lost = new Promise<Error>((resolve) => (giveUp = resolve));
  const ready = new Promise<void>((resolve, reject) => {
    markReady = resolve;
    markFailed = reject;
  });
  const onMessage = (message: Received) => {
    options.onMessage(message);
    if (!("ready" in message)) return;
    failedStarts = 0;
    isReady = wasReady = true;
    markReady();
  };
  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      const startedAt = Date.now();
      failedStarts++;
      measured = undefined;
      current = new Worker(options.module, { workerData: options.data(), name });
      const failure = await ended(current.on("message", onMessage));
      const worked = isReady;
      isReady = false;
      options.onEnded?.();
      if (stopping.signal.aborted) {
        if (worked && failure) log.error({ err: failure }, `${label} failed while stopping`);
        return;
      }
      if (!wasReady) return markFailed(explain(`${label} could not start`, failure));
      if (failedStarts === STARTS_MAX) return giveUp(explain(`${label} could not be restarted`, failure));
      if (Date.now() - startedAt > PAUSE_MS_MAX) failures = 0;
      log.error({ err: failure }, `${label} ended and is being restarted`);
      const pauseMs = Math.min(firstPauseMs * 2 ** failures, PAUSE_MS_MAX);
      await pause(pauseMs, { signal: stopping.signal });
    }
  };
  const running = run();
  return {
    ready,
    lost,
    isReady: () => isReady,
    utilization() {
      const before = measured;
      measured = current?.performance.eventLoopUtilization();
      return current?.performance.eventLoopUtilization(measured, before).utilization ?? 0;
    },
    send: (message) => current?.postMessage(message),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      current?.postMessage({ stop: true });
      if (mayHangInStart && !isReady) {
        await settlesWithin(running, STOP_IN_START_MS_MAX);
        // A thread that became ready meanwhile finishes its work.
        if (!isReady) await current?.terminate();
      }
      await running;
    },
  };
}

function ended(worker: Worker): Promise<Error | undefined> {
  return new Promise((resolve) => {
    worker.once("error", resolve);
    worker.once("exit", () => resolve(undefined));
  });
}

/** An error from a thread keeps its name and message, but loses its class. */
function explain(message: string, failure: Error | undefined): Error {
  if (failure?.name === "StartFailure") return new StartFailure(failure.message, { cause: failure });
  return new Error(message, { cause: failure });
}
