import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { HOLD_TURN_BYTES, sharedHoldTurn } from "../enrich/hold-turn.js";
import type { Inserted } from "../enrich/insert-rows.js";
import type { LookupData } from "../enrich/lookups/load-lookup-data.js";
import type { WrittenBatch } from "../enrich/start-worker.js";
import type { ChunkOutcome } from "../schemas/chunk-outcome.js";
import type { FromThread, ThreadData, ToThread } from "./enrich-messages.js";
import { StartFailure } from "./start-failure.js";

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** About 15 s. What keeps a worker from starting for so long, such as an event log that was wedged, may end with the process. */
const STARTS_MAX = 6;
/** For a worker that was told to stop before it consumed: with its broker away it would go on trying for half a minute. */
const STOP_IN_START_MS_MAX = 3_000;

export interface EnrichmentOptions extends Omit<ThreadData, "share" | "holdTurn"> {
  workers: number;
  log: Logger;
  watch: EnrichmentWatch;
}

/** Told of what the workers did. */
export interface EnrichmentWatch {
  onOutcomes(outcomes: readonly ChunkOutcome[]): void;
  /** Told how many chunks were set aside. */
  onParked(chunks: number): void;
  onWritten(batch: WrittenBatch): void;
  onInserted(insert: Inserted): void;
  /** Told how many records of the event log were gone before they were read. */
  onRecordsLost(records: number): void;
}

export interface Enrichment extends AsyncDisposable {
  /** Resolves with the reason when a worker could not be started again. */
  readonly lost: Promise<Error>;
  /** How many workers do not consume now, because they are starting or have ended. */
  idleWorkers(): number;
  /** Every worker continues with these tables from its next batch on. */
  reload(lookupData: LookupData): void;
  /** Lets every worker finish its batch, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Runs the workers of enrichment, each on a thread. One that ends by itself is started again after a pause. */
export async function startEnrichment(options: EnrichmentOptions): Promise<Enrichment> {
  const holdTurn = new SharedArrayBuffer(HOLD_TURN_BYTES);
  const threads = Array.from({ length: options.workers }, (_, index) =>
    keepThread(index, { ...options, holdTurn }),
  );
  const stop = () => Promise.all(threads.map((thread) => thread.stop()));
  try {
    await Promise.all(threads.map(({ ready }) => ready));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    lost: Promise.race(threads.map(({ lost }) => lost)),
    idleWorkers: () => threads.filter((thread) => !thread.consumes()).length,
    reload: (lookupData) => threads.forEach((thread) => thread.reload(lookupData)),
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

interface KeptThread {
  /** Resolves when it consumes for the first time; rejects when it ended before. */
  ready: Promise<void>;
  lost: Promise<Error>;
  consumes(): boolean;
  reload(lookupData: LookupData): void;
  stop(): Promise<void>;
}

function keepThread(index: number, options: EnrichmentOptions & Pick<ThreadData, "holdTurn">): KeptThread {
  const { log, workers, watch, ...data } = options;
  const stopping = new AbortController();
  let current: Worker | undefined;
  let markReady = (): void => undefined;
  let markFailed = (_: Error): void => undefined;
  let giveUp = (_: Error): void => undefined;
  const lost = new Promise<Error>((resolve) => (giveUp = resolve));
  let startsInVain = 0;
  let consumes = false;
  const ready = new Promise<void>((resolve, reject) => {
    markReady = resolve;
    markFailed = reject;
  });
  const hear = (message: FromThread) => {
    if ("ready" in message) {
      startsInVain = 0;
      consumes = true;
      markReady();
    } else pass(message, watch);
  };
  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      const startedAt = Date.now();
      startsInVain++;
      const thread = spawnThread({ ...data, share: { index, of: workers } }, hear);
      current = thread.worker;
      const failure = await thread.ended;
      consumes = false;
      sharedHoldTurn(data.holdTurn, index).giveBack();
      if (stopping.signal.aborted) return;
      markFailed(explain("an enrichment worker could not start", failure));
      if (startsInVain === STARTS_MAX) {
        giveUp(explain("an enrichment worker cannot be started any more", failure));
        return;
      }
      if (Date.now() - startedAt > PAUSE_MS_MAX) failures = 0;
      log.error({ err: failure, worker: index }, "an enrichment worker ended; it is started again");
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, PAUSE_MS_MAX);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    ready,
    lost,
    consumes: () => consumes,
    reload(lookupData) {
      data.lookupData = lookupData;
      current?.postMessage({ lookupData } satisfies ToThread);
    },
    async stop() {
      stopping.abort();
      current?.postMessage({ stop: true } satisfies ToThread);
      if (!consumes && "kafka" in data.logSource) {
        await Promise.race([running, sleep(STOP_IN_START_MS_MAX)]);
        await current?.terminate();
      }
      await running;
    },
  };
}

/** An error that comes from a thread has its name and its sentence still, and no class any more. */
function explain(what: string, failure: Error | undefined): Error {
  if (failure?.name === "StartFailure") return new StartFailure(failure.message, { cause: failure });
  return new Error(what, { cause: failure });
}

function pass(message: Exclude<FromThread, { ready: true }>, watch: EnrichmentWatch): void {
  if ("parked" in message) watch.onParked(message.parked);
  else if ("written" in message) watch.onWritten(message.written);
  else if ("inserted" in message) watch.onInserted(message.inserted);
  else if ("recordsLost" in message) watch.onRecordsLost(message.recordsLost);
  else watch.onOutcomes(message.outcomes);
}

function spawnThread(
  workerData: ThreadData,
  hear: (message: FromThread) => void,
): { worker: Worker; ended: Promise<Error | undefined> } {
  const worker = new Worker(new URL("./enrich-thread.js", import.meta.url), { workerData, name: "enrich" });
  worker.on("message", hear);
  const ended = new Promise<Error | undefined>((resolve) => {
    worker.once("error", resolve);
    worker.once("exit", () => resolve(undefined));
  });
  return { worker, ended };
}
