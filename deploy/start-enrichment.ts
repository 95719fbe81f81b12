import type { Logger } from "pino";
import { HOLD_TURN_BYTES, sharedHoldTurn } from "../enrich/hold-turn.js";
import type { Inserted } from "../enrich/insert-rows.js";
import type { LookupData } from "../enrich/lookups/load-lookup-data.js";
import type { WrittenBatch } from "../enrich/start-worker.js";
import type { ChunkOutcome } from "../schemas/chunk-outcome.js";
import type { FromThread, ThreadData, ToThread } from "./enrich-messages.js";
import { keepThread, type KeptThread } from "./keep-thread.js";

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
  const { workers: of, log, watch, ...given } = options;
  const data = { ...given, holdTurn: new SharedArrayBuffer(HOLD_TURN_BYTES) };
  const workers = Array.from({ length: of }, (_, index) =>
    keepWorker({ data: () => ({ ...data, share: { index, of } }), log: log.child({ worker: index }), watch }),
  );
  const stop = () => Promise.all(workers.map((worker) => worker.stop()));
  try {
    await Promise.all(workers.map(({ ready }) => ready));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    lost: Promise.race(workers.map(({ lost }) => lost)),
    idleWorkers: () => workers.filter((worker) => !worker.isReady()).length,
    reload(lookupData) {
      data.lookupData = lookupData;
      workers.forEach((worker) => worker.tell({ lookupData }));
    },
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

interface WorkerOptions extends Pick<EnrichmentOptions, "log" | "watch"> {
  data: () => ThreadData;
}

function keepWorker({ data, log, watch }: WorkerOptions): KeptThread<ToThread> {
  const { holdTurn, share, logSource } = data();
  return keepThread<ToThread, FromThread>({
    module: new URL("./enrich-thread.js", import.meta.url),
    name: "enrich",
    called: "an enrichment worker",
    log,
    data,
    hear: (message) => pass(message, watch),
    onEnded: () => sharedHoldTurn(holdTurn, share.index).giveBack(),
    stopInStartMsMax: "kafka" in logSource ? STOP_IN_START_MS_MAX : undefined,
  });
}

function pass(message: FromThread, watch: EnrichmentWatch): void {
  if ("ready" in message) return;
  if ("parked" in message) watch.onParked(message.parked);
  else if ("written" in message) watch.onWritten(message.written);
  else if ("inserted" in message) watch.onInserted(message.inserted);
  else if ("recordsLost" in message) watch.onRecordsLost(message.recordsLost);
  else watch.onOutcomes(message.outcomes);
}
