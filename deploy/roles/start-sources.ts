import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ExportListener } from "../../api/base/http/answers/answer-rows.js";
import type { Route } from "../../api/base/http/route.js";
import { createRegistryAccess } from "../../api/features/sources/registry-access.js";
import { reportedRoutes } from "../../api/features/sources/reported-routes.js";
import { sourceRoutes } from "../../api/features/sources/source-routes.js";
import { dueKinds } from "../../api/features/sources/source-runs.js";
import { startRepeating } from "../../schemas/async/pause.js";
import type { Config } from "../config/config.js";
import { createSourceMetrics } from "../metrics/source-metrics.js";
import { type SupervisedThread, superviseThread } from "../process/supervise-thread.js";
import type { Stores } from "../stores/open-stores.js";
import type { FromSources, ToSources } from "./sources-messages.js";

interface SourceParts {
  config: Config;
  log: Logger;
  stores: Stores;
  registry: Registry;
}

const MODULE = new URL("./sources-thread.js", import.meta.url);

/**
 * Asks registries for the counts of sources until disposed of, on a thread of its own: an answer may have ten megabytes.
 * The thread starts when a source is due for the first time. It has the usual priority: at the lowest, on a machine with a
 * load of 40, the median request waited 1.5 s while answers were read, and so 0.05 s.
 */
export function startSourceRuns({ config, log, stores, registry }: SourceParts): AsyncDisposable {
  const { onRun } = createSourceMetrics(registry);
  const { sources, quotas, logLevel } = config;
  const data = { sources, quotas, postgresUrl: stores.postgresUrl, logLevel };
  let thread: SupervisedThread<ToSources> | undefined;
  const looking = startRepeating(
    async () => {
      if (thread !== undefined || (await dueKinds(stores.pg)).length === 0) return;
      const label = "the registry counts thread";
      const options = { module: MODULE, name: "sources", label, log, data: () => data };
      const started = superviseThread<ToSources, FromSources>({
        ...options,
        onMessage: (message) => void ("kind" in message && onRun(message.kind, message.outcome)),
      });
      thread = started;
      const forget = (err: unknown) => {
        log.error({ err }, "fetching counts from registries has stopped; restarting");
        thread = undefined;
      };
      started.ready.catch(forget);
      void started.lost.then(forget);
    },
    { onFailure: (error) => log.warn({ err: error }, "looking for due sources failed; retrying") },
  );
  return {
    async [Symbol.asyncDispose]() {
      await looking[Symbol.asyncDispose]();
      await thread?.[Symbol.asyncDispose]();
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
