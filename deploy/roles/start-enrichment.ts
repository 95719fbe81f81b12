import type { Logger } from "pino";
import { MUTEX_BYTES, sharedThreadMutex } from "../../enrich/batches/thread-mutex.js";
import type { LookupData } from "../../enrich/lookups/load-lookup-data.js";
import type { EnrichmentMetrics } from "../metrics/pipeline-metrics.js";
import { ClosingSet } from "../process/closing-set.js";
import type { FromThread, ThreadData, ToThread } from "./enrich-messages.js";
import { superviseThread, type SupervisedThread } from "../process/supervise-thread.js";

export interface EnrichmentOptions extends Omit<ThreadData, "share" | "mutexMemory"> {
  workers: number;
  log: Logger;
  watch: EnrichmentMetrics;
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
  const { workers: of, log, watch, ...given } = options;
  const data = { ...given, mutexMemory: new SharedArrayBuffer(MUTEX_BYTES) };
  const open = new ClosingSet();
  const workers = Array.from({ length: of }, (_, index) =>
    open.use(keepWorker(index, { data: () => ({ ...data, share: { index, of } }), log, watch })),
  );
  try {
    await Promise.all(workers.map(({ ready }) => ready));
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
  return {
    lost: Promise.race(workers.map(({ lost }) => lost)),
    idleWorkers: () => workers.filter((worker) => !worker.isReady()).length,
    reload(lookupData) {
      data.lookupData = lookupData;
      workers.forEach((worker) => worker.tell({ lookupData }));
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

interface WorkerOptions extends Pick<EnrichmentOptions, "log" | "watch"> {
  data: () => ThreadData;
}

function keepWorker(index: number, { data, log, watch }: WorkerOptions): SupervisedThread<ToThread> {
  const { mutexMemory, logSource } = data();
  return superviseThread<ToThread, FromThread>({
    module: new URL("./enrich-thread.js", import.meta.url),
    name: "enrich",
    called: "an enrichment worker",
    log: log.child({ worker: index }),
    data,
    hear: (message) => pass(message, watch),
    onEnded: () => sharedThreadMutex(mutexMemory, index).unlock(),
    mayHangInStart: "kafka" in logSource,
  });
}

function pass(message: FromThread, watch: EnrichmentMetrics): void {
  if ("ready" in message) return;
  if ("deadLetters" in message) watch.onDeadLetters(message.deadLetters);
  else if ("written" in message) watch.onWritten(message.written);
  else if ("inserted" in message) watch.onInserted(message.inserted);
  else if ("recordsLost" in message) watch.onRecordsLost(message.recordsLost);
  else watch.onOutcomes(message.outcomes);
}
