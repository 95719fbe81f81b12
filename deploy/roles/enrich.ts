import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { MUTEX_BYTES, sharedThreadMutex } from "../../enrich/batches/poison-detection.js";
import type { LookupData } from "../../enrich/lookups/load-lookup-data.js";
import { QUEUES } from "../../schemas/records/event-log.js";
import type { Config } from "../config/config.js";
import { originKey } from "../process/secret-key.js";
import type { EnrichmentMetrics } from "../metrics/pipeline-metrics.js";
import { ClosingSet } from "../process/closing.js";
import { onReloadSignal } from "../process/lifecycle.js";
import { StartFailure } from "../process/start-failure.js";
import { type SupervisedThread, superviseThread } from "../process/supervise-thread.js";
import { readEventRetention } from "../stores/open-event-log.js";
import { type FromThread, type ThreadData, type ToThread, mutexIndex } from "./enrich-messages.js";
import type { RoleParts } from "./role-parts.js";

export async function startEnrich(parts: RoleParts, lookupData: LookupData): Promise<Enrichment> {
  const { config, log, open, stores, secretKey, chunksWritten, arriving } = parts;
  const metrics = parts.metrics.enrichment;
  const enrichment = open.use(
    await startEnrichment({
      workers: config.enrich.workers,
      log,
      logLevel: config.logLevel,
      logSource: stores.logSource,
      postgresUrl: stores.postgresUrl,
      clickhouseSource: stores.clickhouseSource,
      eventRetention: await readEventRetention(stores.pg, config.retention.eventsDays),
      originKey: originKey(secretKey),
      lookupData,
      arrivingMemory: arriving.memory,
      metrics: {
        ...metrics,
        onOutcomes(outcomes) {
          metrics.onOutcomes(outcomes);
          chunksWritten.ring();
        },
      },
    }),
  );
  const reload = onReloadSignal(
    async () => enrichment.reload(await loadOnThread(config.lookups)),
    (error) => log.error({ err: error }, "could not reload the lookup tables; keeping the old ones"),
  );
  open.defer(async () => reload[Symbol.dispose]());
  return enrichment;
}

interface EnrichmentOptions extends Omit<ThreadData, "share" | "mutexMemory"> {
  workers: number;
  log: Logger;
  metrics: EnrichmentMetrics;
}

export interface Enrichment extends AsyncDisposable {
  readonly lost: Promise<Error>;
  /** The number of workers that are starting or have ended, and so do not consume. */
  idleWorkers(): number;
  reload(lookupData: LookupData): void;
  /** Lets every worker finish its batch, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Runs the workers of enrichment, each on a thread. Restarts a worker after a pause when it ends by itself. */
async function startEnrichment(options: EnrichmentOptions): Promise<Enrichment> {
  const { workers: of, log, metrics, ...given } = options;
  const data = { ...given, mutexMemory: new SharedArrayBuffer(MUTEX_BYTES) };
  const open = new ClosingSet();
  const workers = Array.from({ length: of }, (_, index) =>
    open.use(startWorker(index, { data: () => ({ ...data, share: { index, of } }), log, metrics })),
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
      workers.forEach((worker) => worker.send({ lookupData }));
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

interface WorkerOptions extends Pick<EnrichmentOptions, "log" | "metrics"> {
  data: () => ThreadData;
}

function startWorker(index: number, { data, log, metrics }: WorkerOptions): SupervisedThread<ToThread> {
  const { mutexMemory, logSource } = data();
  return superviseThread<ToThread, FromThread>({
    module: new URL("./enrich-thread.js", import.meta.url),
    name: "enrich",
    label: "an enrichment worker",
    log: log.child({ worker: index }),
    data,
    onMessage: (message) => record(message, metrics),
    onEnded: () =>
      QUEUES.forEach((queue) => sharedThreadMutex(mutexMemory, mutexIndex(index, queue)).unlock()),
    mayHangInStart: "kafka" in logSource,
  });
}

function record(message: FromThread, metrics: EnrichmentMetrics): void {
  if ("ready" in message) return;
  if ("deadLetters" in message) metrics.onDeadLetters(message.deadLetters);
  else if ("written" in message) metrics.onWritten(message.written);
  else if ("inserted" in message) metrics.onInserted(message.inserted);
  else if ("recordsLost" in message) metrics.onRecordsLost(message.recordsLost);
  else metrics.onOutcomes(message.outcomes);
}

/** Loads the lookup tables of enrichment. Throws StartFailure naming the variables of unusable files. */
export async function readLookups(lookups: Config["lookups"]): Promise<LookupData> {
  try {
    return await loadOnThread(lookups);
  } catch (error) {
    const given = [
      ["CITY_MMDB", lookups.cityMmdb],
      ["ASN_DB", lookups.asnDb],
      ["COMPANY_MMDB", lookups.companyMmdb],
      ["ORGANIZATIONS_CSV", lookups.organizationsCsv],
    ].flatMap(([variable, path]) => (path === undefined ? [] : [variable]));
    throw new StartFailure(`${(error as Error).message} (${given.join(", ")})`, { cause: error });
  }
}

/** The thread takes its 80 MB of garbage with it, and the second of parsing delays neither the start nor requests. */
async function loadOnThread(paths: Config["lookups"]): Promise<LookupData> {
  const module = new URL("./lookups-thread.js", import.meta.url);
  const [data] = (await once(new Worker(module, { workerData: paths, name: "lookups" }), "message")) as [
    LookupData,
  ];
  return data;
}
