import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { settlesWithin } from "../../schemas/async/settles-within.js";
import { pause } from "../../schemas/async/pause.js";
import { StartFailure } from "./start-failure.js";

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** Half a minute. What keeps a thread from starting for so long, such as an event log that was wedged, may end with the process. */
const STARTS_MAX = 6;
const STOP_IN_START_MS_MAX = 3_000;

export interface ThreadOptions<Heard extends object> {
  /** The module that the thread runs. It tells `{ ready: true }` when it does its work, with more if it likes. */
  module: URL;
  /** What tools show. */
  name: string;
  /** What sentences say, such as "an enrichment worker". */
  called: string;
  log: Logger;
  /** Asked for at each start. */
  data: () => object;
  /** Told all that the thread tells. */
  hear: (message: Heard) => void;
  /** Told whenever it ended, for whatever reason. */
  onEnded?: () => void;
  /** Before it is started again; twice as long each time that follows. */
  firstPauseMs?: number;
  /** Whether it may go on trying to start for long, as with a broker away: then the end does not wait for that. */
  mayHangInStart?: boolean;
}

export interface SupervisedThread<Told extends object> extends AsyncDisposable {
  /** Resolves when it is ready for the first time; rejects when it ended before by itself, and is not started again. */
  ready: Promise<void>;
  /** Resolves with the reason when it cannot be started any more. */
  lost: Promise<Error>;
  /** False while it starts, and when it has ended. */
  isReady(): boolean;
  /** Nobody hears it while there is no thread. */
  tell(message: Told): void;
  /** Tells it `{ stop: true }`, and resolves when it has ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Runs a module on a thread of its own. One that ends by itself is started again, after a pause. */
export function superviseThread<Told extends object, Heard extends object>(
  options: ThreadOptions<Heard>,
): SupervisedThread<Told> {
  const { log, name, called, firstPauseMs = FIRST_PAUSE_MS, mayHangInStart = false } = options;
  const stopping = new AbortController();
  let current: Worker | undefined;
  let isReady = false;
  let wasReady = false;
  let startsInVain = 0;
  let markReady = (): void => undefined;
  let markFailed = (_: Error): void => undefined;
  let giveUp = (_: Error): void => undefined;
  const lost = new Promise<Error>((resolve) => (giveUp = resolve));
  const ready = new Promise<void>((resolve, reject) => {
    markReady = resolve;
    markFailed = reject;
  });
  const hear = (message: Heard) => {
    options.hear(message);
    if (!("ready" in message)) return;
    startsInVain = 0;
    isReady = wasReady = true;
    markReady();
  };
  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      const startedAt = Date.now();
      startsInVain++;
      current = new Worker(options.module, { workerData: options.data(), name });
      const failure = await ended(current.on("message", hear));
      const worked = isReady;
      isReady = false;
      options.onEnded?.();
      if (stopping.signal.aborted) {
        if (worked && failure) log.error({ err: failure }, `${called} did not end as it should`);
        return;
      }
      if (!wasReady) return markFailed(explain(`${called} could not start`, failure));
      if (startsInVain === STARTS_MAX)
        return giveUp(explain(`${called} cannot be started any more`, failure));
      if (Date.now() - startedAt > PAUSE_MS_MAX) failures = 0;
      log.error({ err: failure }, `${called} ended; it is started again`);
      const pauseMs = Math.min(firstPauseMs * 2 ** failures, PAUSE_MS_MAX);
      await pause(pauseMs, { signal: stopping.signal });
    }
  };
  const running = run();
  return {
    ready,
    lost,
    isReady: () => isReady,
    tell: (message) => current?.postMessage(message),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      current?.postMessage({ stop: true });
      if (mayHangInStart && !isReady) {
        await settlesWithin(running, STOP_IN_START_MS_MAX);
        // One that began to work meanwhile has something to finish.
        if (!isReady) await current?.terminate();
      }
      await running;
    },
  };
}

/** Resolves with the error that ended it, if any did. */
function ended(worker: Worker): Promise<Error | undefined> {
  return new Promise((resolve) => {
    worker.once("error", resolve);
    worker.once("exit", () => resolve(undefined));
  });
}

/** An error that comes from a thread has its name and its sentence still, and no class any more. */
function explain(what: string, failure: Error | undefined): Error {
  if (failure?.name === "StartFailure") return new StartFailure(failure.message, { cause: failure });
  return new Error(what, { cause: failure });
}
