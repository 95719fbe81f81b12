import type { Pool } from "pg";
import { parentPort, workerData } from "node:worker_threads";
import { openArtifactResolver } from "../../api/features/imports/artifact-resolver.js";
import { readArtifacts } from "../../api/base/access/artifacts.js";
import { abortedAmong, putChunks, replaceDeadLetters } from "../../api/features/imports/import-progress.js";
import { putDeadLetter } from "../../api/features/imports/dead-letters.js";
import { onConnection } from "../../api/base/postgres/connection.js";
import { insertLock, latestRecount } from "../../api/base/postgres/insert-lock.js";
import { withPg } from "../../api/base/postgres/with-pg.js";
import type { InsertLock } from "../../schemas/records/settlement.js";
import { PRODUCT } from "../../api/base/http/product.js";
import { recount, versionsOfChunks } from "../../aggregate/settlement/recount.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { sharedThreadMutex } from "../../enrich/batches/poison-detection.js";
import type { LookupData } from "../../enrich/lookups/load-lookup-data.js";
import { openIds } from "../../enrich/lookups/open-ids.js";
import { openLookups } from "../../enrich/lookups/open-lookups.js";
import { startWorker, type WorkerDependencies } from "../../enrich/start-worker.js";
import { SharedCount } from "../../schemas/async/wake-up.js";
import { oldestTime } from "../../schemas/event-retention.js";
import { ClosingStack } from "../process/closing.js";
import { connectShards } from "../stores/clickhouse/connect-shards.js";
import { connectPostgres } from "../stores/connect-postgres.js";
import { type FromThread, type ThreadData, type ToThread, mutexIndex } from "./enrich-messages.js";
import { createLog } from "../process/log.js";
import { openEventLog } from "../stores/open-event-log.js";
import { garbageCollector, untilStopped } from "../process/lifecycle.js";
import { lowerPriority } from "../process/thread-priority.js";

const CONNECTIONS_MAX = 2;

/** Runs one worker of enrichment until the main thread sends `{ stop: true }`. Rejects when the worker fails. */
async function main(data: ThreadData): Promise<void> {
  lowerPriority();
  await using open = new ClosingStack();
  const log = createLog({ level: data.logLevel }).child({ worker: data.share.index });
  const pg = connectPostgres({ url: data.postgresUrl, connectionsMax: CONNECTIONS_MAX, log });
  open.defer(() => pg.end());
  const shards = open.use(connectShards(data.clickhouseSource));
  const eventLog = open.use(
    await openEventLog(data.logSource, log, { onRecordsLost: (recordsLost) => send({ recordsLost }) }),
  );
  // Another version of the program may enrich the same line otherwise.
  const lookupsFrom = (tables: LookupData) => {
    const lookups = openLookups(tables);
    return { ...lookups, id: `${PRODUCT.version} ${lookups.id}` };
  };
  let lookups = lookupsFrom(data.lookupData);
  const stopped = untilStopped<ToThread>(({ lookupData }) => (lookups = lookupsFrom(lookupData)));
  const onRefused = ({ importId, sequence }: ChunkOutcome, error: unknown) =>
    log.error({ err: error, importId, sequence }, "PostgreSQL rejected the import log samples of a chunk");
  const worker = open.use(
    await startWorker({
      log: eventLog,
      shards,
      share: data.share,
      arriving: new SharedCount(data.arrivingMemory),
      oldestTime: oldestTime(data.eventRetention),
      lookups: () => lookups,
      ids: openIds(data.originKey),
      resolveArtifact: openArtifactResolver(pg),
      resolveLive: (targets) => readArtifacts(pg, targets),
      progress: {
        ...withPg(pg, { abortedAmong, replaceDeadLetters }),
        putChunks: (outcomes) => putChunks(pg, outcomes, { onRefused }),
      },
      recounts: openRecounts(pg),
      ...withPg(pg, { putDeadLetter }),
      mutexOf: (queue) => sharedThreadMutex(data.mutexMemory, mutexIndex(data.share.index, queue)),
      onOutcomes: (outcomes) => send({ outcomes: [...outcomes] }),
      onWritten: (written) => send({ written }),
      onIdle: garbageCollector(),
      onInserted: (inserted) => send({ inserted }),
      onDeadLetter: ({ record: _, ...letter }) => {
        log.error(letter, "a chunk became a dead letter; see: admin dead-letters list");
        send({ deadLetters: 1 });
      },
      onLogRefused: ({ reason, cause }, kept) =>
        log.error({ err: cause, reason, stored: kept }, "a store rejected import log entries"),
      onRetry: (error, what) => log.warn({ err: error }, `${what} failed; retrying`),
    }),
  );
  send({ ready: true });
  const crash = await Promise.race([stopped, worker.crashed]);
  if (crash !== undefined) throw crash;
}

function openRecounts(pg: Pool): WorkerDependencies["recounts"] {
  const onLock = <T>(work: (lock: InsertLock) => Promise<T>) =>
    onConnection(pg, (connection) => work(insertLock(connection)));
  return {
    latest: () => latestRecount(pg),
    whileInserting: (work) => onLock((lock) => lock.whileInserting(work)),
    recount: (shard, stamps) => onLock((lock) => recount(shard, versionsOfChunks(stamps), lock)),
  };
}

function send(message: FromThread): void {
  parentPort?.postMessage(message);
}

await main(workerData as ThreadData);
// A closed store may still retry a request, which would keep the thread running.
process.exit();
