import { parentPort, workerData } from "node:worker_threads";
import { Registry } from "prom-client";
import { settlesWithin } from "../../schemas/async/pause.js";
import { ClosingStack } from "../process/closing.js";
import type { CollectThreadData, FromCollect, ToCollect } from "./collect-messages.js";
import { connectShards } from "../stores/clickhouse/connect-shards.js";
import { connectPostgres } from "../stores/connect-postgres.js";
import { createLog } from "../process/log.js";
import { openCollect } from "./collect.js";
import { openEventLog } from "../stores/open-event-log.js";
import { untilStopped } from "../process/lifecycle.js";

/** One reads changed packages and pixels, one answers `/readyz`. Listening for changes takes one more connection. */
const CONNECTIONS_MAX = 2;
/** All events are appended by then. With an unavailable broker, closing would retry for half a minute. */
const LOG_CLOSE_MS_MAX = 2_000;

async function main({ config, logSource, postgresUrl, clickhouseSource }: CollectThreadData): Promise<void> {
  await using open = new ClosingStack();
  const log = createLog({ level: config.logLevel });
  const registry = new Registry();
  const sendMetrics = async () => send({ metrics: await registry.metrics().catch(() => "") });
  let caughtUp = async () => {};
  const stopped = untilStopped<ToCollect>((message) => {
    if ("scrape" in message) return void sendMetrics();
    // The caller that made the change is answered in any case.
    const answer = () => send({ caughtUp: message.catchUp });
    caughtUp().then(answer, answer);
  });
  const pg = connectPostgres({ url: postgresUrl, connectionsMax: CONNECTIONS_MAX, log });
  open.defer(() => pg.end());
  const { all: clickhouse } = open.use(connectShards(clickhouseSource));
  const eventLog = await openEventLog(logSource, log);
  open.defer(() => settlesWithin(eventLog[Symbol.asyncDispose](), LOG_CLOSE_MS_MAX));
  const stores = { pg, postgresUrl, clickhouse, eventLog: () => Promise.resolve(eventLog) };
  // Runs after collection has closed, so that the metrics count events lost at the end.
  open.defer(sendMetrics);
  const { url, port, ...collect } = open.use(await openCollect({ config, stores, log, registry }));
  caughtUp = collect.caughtUp;
  send({ ready: true, url, port });
  await stopped;
}

function send(message: FromCollect): void {
  parentPort?.postMessage(message);
}

await main(workerData as CollectThreadData);
// A closed store may still retry a request, which would keep the thread running.
process.exit();
