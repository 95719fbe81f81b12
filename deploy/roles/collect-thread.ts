import { parentPort, workerData } from "node:worker_threads";
import { Registry } from "prom-client";
import { settlesWithin } from "../../schemas/async/settles-within.js";
import { ClosingStack } from "../process/closing-stack.js";
import type { CollectThreadData, FromCollect, ToCollect } from "./collect-messages.js";
import { connectClickHouse } from "../stores/clickhouse/connect-clickhouse.js";
import { connectPostgres } from "../stores/postgres/connect-postgres.js";
import { createLog } from "../process/log.js";
import { openCollect } from "./collect.js";
import { openEventLog } from "../stores/open-event-log.js";
import { untilStopped } from "../process/until-stopped.js";

/** For what is served, read again as it changes, and for `/readyz`. The connection that listens is one more. */
const CONNECTIONS_MAX = 2;
/** All that it will take is in it by then; with its broker away it would go on trying for half a minute. */
const LOG_CLOSE_MS_MAX = 2_000;

/** Live collection on a thread of its own; ends when told to stop. */
async function main({ config, logSource, postgresUrl, clickhouseUrl }: CollectThreadData): Promise<void> {
  await using open = new ClosingStack();
  const log = createLog({ level: config.logLevel });
  const registry = new Registry();
  const tellMetrics = async () => tell({ metrics: await registry.metrics().catch(() => "") });
  const stopped = untilStopped<ToCollect>(() => void tellMetrics());
  const pg = connectPostgres({ url: postgresUrl, connectionsMax: CONNECTIONS_MAX, log });
  open.defer(() => pg.end());
  const clickhouse = connectClickHouse(clickhouseUrl);
  open.defer(() => clickhouse.close());
  const eventLog = await openEventLog(logSource, log);
  open.defer(() => settlesWithin(eventLog[Symbol.asyncDispose](), LOG_CLOSE_MS_MAX));
  const stores = { pg, postgresUrl, clickhouse, eventLog: () => Promise.resolve(eventLog) };
  // What is lost at the end is counted, too.
  open.defer(tellMetrics);
  const { url, port } = open.use(await openCollect({ config, stores, log, registry }));
  tell({ ready: true, url, port });
  await stopped;
}

function tell(message: FromCollect): void {
  parentPort?.postMessage(message);
}

await main(workerData as CollectThreadData);
// Stores that were closed may leave a request that is tried again; nothing is left to wait for.
process.exit();
