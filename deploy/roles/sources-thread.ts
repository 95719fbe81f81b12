import { parentPort, workerData } from "node:worker_threads";
import { schedule } from "node-cron";
import { createRegistryAccess } from "../../api/features/sources/registry-access.js";
import { startSources } from "../../api/features/sources/start-sources.js";
import { DAY_MS } from "../../schemas/date-range.js";
import { ClosingStack } from "../process/closing.js";
import { cronLogger } from "../schedule/start-schedule.js";
import { untilStopped } from "../process/lifecycle.js";
import { createLog } from "../process/log.js";
import { connectPostgres } from "../stores/connect-postgres.js";
import type { FromSources, SourcesThreadData, ToSources } from "./sources-messages.js";

const CONNECTIONS_MAX = 1;

async function main({ sources, quotas, postgresUrl, logLevel }: SourcesThreadData): Promise<void> {
  await using open = new ClosingStack();
  const log = createLog({ level: logLevel });
  const stopped = untilStopped<ToSources>(() => undefined);
  const pg = connectPostgres({ url: postgresUrl, connectionsMax: CONNECTIONS_MAX, log });
  open.defer(() => pg.end());
  const task = schedule(sources.schedule, () => undefined, {
    timezone: "UTC",
    logger: cronLogger(log),
  });
  open.defer(async () => void (await task.destroy()));
  open.use(
    startSources({
      pg,
      access: createRegistryAccess(sources),
      quotas,
      nextTime: () => task.getNextRun() ?? new Date(Date.now() + DAY_MS),
      onRun: (kind, outcome) => send({ kind, outcome }),
      onFailure: (error) => log.warn({ err: error }, "fetching counts from a registry failed; retrying"),
    }),
  );
  send({ ready: true });
  await stopped;
}

function send(message: FromSources): void {
  parentPort?.postMessage(message);
}

await main(workerData as SourcesThreadData);
process.exit();
