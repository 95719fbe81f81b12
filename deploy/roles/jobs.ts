import type { ClickHouseClient } from "@clickhouse/client";
import { runFunnel } from "../../aggregate/funnel/run-funnel.js";
import { startEraser } from "../../aggregate/settlement/start-eraser.js";
import { startSettler } from "../../aggregate/settlement/start-settler.js";
import { funnelStore, readRunTime } from "../../api/stores/funnel/funnel-runs.js";
import { settlementStore } from "../../api/stores/imports/settlements.js";
import { erasureStore } from "../../api/stores/packages/deleted-artifacts.js";
import { lookAtHosts } from "../../api/hosts/look-at-hosts.js";
import type { Config } from "../config/config.js";
import { createScheduleMetrics } from "../metrics/schedule-metrics.js";
import { IMPORT_DONE, importDoneFields } from "../process/import-done.js";
import { SCHEDULED_JOBS } from "../schedule/scheduled-jobs.js";
import { startSchedule, type ScheduledJob } from "../schedule/start-schedule.js";
import { resolveTxtAt } from "../servers/resolve-txt.js";
import type { RoleParts } from "./role-parts.js";
import { startWebhooks } from "./start-webhooks.js";

/**
 * Opens the role `jobs`, in this order: webhook deliveries, settlement, erasure of deleted packages and pixels, the
 * schedule. Any number of processes may have this role: one at a time settles and erases for an owner, and one runs a
 * scheduled job.
 */
export function startJobs(parts: RoleParts): void {
  const { config, log, open, stores, registry, metrics, chunksWritten } = parts;
  const { clickhouse, pg } = stores;
  open.use(startWebhooks(parts));
  open.use(
    startSettler({
      clickhouse,
      store: settlementStore(pg),
      wakeUp: chunksWritten,
      onSettled: (settlement) => metrics.observeSettlement(settlement),
      onEnded: (ending, imports) => metrics.countEnded(ending, imports),
      onDone: (done) => log.info(importDoneFields(done), IMPORT_DONE),
      onFailure: (error) => log.warn({ err: error }, "settlement failed and is retried"),
    }),
  );
  open.use(
    startEraser({
      clickhouse,
      store: erasureStore(pg),
      onErased: (artifacts) =>
        log.info({ artifacts }, "all events of deleted packages and pixels are erased"),
      onFailure: (error) => log.warn({ err: error }, "erasing failed and is retried"),
    }),
  );
  const jobs = [...SCHEDULED_JOBS, funnelJob(clickhouse, config.funnelSchedule), ...hostJobs(config)];
  open.use(startSchedule(jobs, { pg, log, ...createScheduleMetrics(registry, jobs) }));
}

/** Looks at hosts that their owners have not verified, where they have to. */
function hostJobs({ collect, dnsServers = [] }: Config): ScheduledJob[] {
  if (collect.verifiedHostsOnly !== true) return [];
  const resolveTxt = resolveTxtAt(dnsServers);
  const run: ScheduledJob["run"] = (pg, signal) => lookAtHosts(pg, { resolveTxt, signal });
  return [{ name: "hosts", schedule: "*/10 * * * *", run }];
}

/** Computes the funnel stage of every company with every owner; see `runFunnel`. */
function funnelJob(clickhouse: ClickHouseClient, schedule: string): ScheduledJob {
  return {
    name: "funnel",
    schedule,
    catchesUp: true,
    run: async (pg, signal) =>
      runFunnel(clickhouse, { store: funnelStore(pg), asOf: await readRunTime(pg), signal }),
  };
}
