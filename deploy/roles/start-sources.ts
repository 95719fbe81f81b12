import { schedule } from "node-cron";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { DAY_MS } from "../../schemas/date-range.js";
import type { Route } from "../../api/http/route.js";
import { reportedRoutes } from "../../api/sources/reported-routes.js";
import { createRegistryAccess } from "../../api/sources/registry-access.js";
import { sourceRoutes } from "../../api/sources/source-routes.js";
import { startSources } from "../../api/sources/start-sources.js";
import type { ExportListener } from "../../api/http/answers/answer-rows.js";
import type { Config } from "../config/config.js";
import { createSourceMetrics } from "../metrics/source-metrics.js";
import { cronLogger } from "../schedule/start-schedule.js";
import type { Stores } from "../stores/open-stores.js";

interface SourceParts {
  config: Config;
  log: Logger;
  stores: Stores;
  registry: Registry;
}

/** Asks registries for the counts of sources until disposed of. */
export function startSourceRuns({ config, log, stores: { pg }, registry }: SourceParts): AsyncDisposable {
  const task = schedule(config.sources.schedule, () => undefined, {
    timezone: "UTC",
    logger: cronLogger(log),
  });
  const running = startSources({
    pg,
    access: createRegistryAccess(config.sources),
    nextTime: () => task.getNextRun() ?? new Date(Date.now() + DAY_MS),
    onRun: createSourceMetrics(registry).onRun,
    onFailure: (error) => log.warn({ err: error }, "asking a registry for its counts failed and is retried"),
  });
  return {
    async [Symbol.asyncDispose]() {
      await task.destroy();
      await running[Symbol.asyncDispose]();
    },
  };
}

/** The API routes of sources and of what registries counted. */
export function sourceApi(
  { config, stores }: Pick<SourceParts, "config" | "stores">,
  listener: ExportListener,
): Route[] {
  const { requests: pg } = stores;
  return [
    ...reportedRoutes({ pg, listener }),
    ...sourceRoutes({ pg, access: createRegistryAccess(config.sources), quotas: config.quotas }),
  ];
}
