import { runFunnel } from "../../aggregate/funnel/run-funnel.js";
import { startAddressSets } from "../../aggregate/address-sets/start-address-sets.js";
import { startEraser } from "../../aggregate/erasures/erase-artifacts.js";
import { startSettler } from "../../aggregate/settlement/start-settler.js";
import { readRunTime } from "../../api/features/companies/funnel-owners.js";
import { pastStore } from "../../api/features/companies/funnel-pasts.js";
import { funnelStore } from "../../api/features/companies/funnel-runs.js";
import { emptySamples } from "../../api/features/imports/import-progress.js";
import { asOnlySettlement, dueImports } from "../../api/features/imports/settlements.js";
import { abortAbandonedUploads } from "../../api/features/imports/uploads.js";
import * as deletedArtifacts from "../../api/features/erasures/deleted-artifacts.js";
import { onConnection } from "../../api/base/postgres/connection.js";
import { insertLock } from "../../api/base/postgres/insert-lock.js";
import { withPg } from "../../api/base/postgres/with-pg.js";
import { lookAtHosts } from "../../api/features/packages/hosts/host-checks.js";
import type { Shards } from "../../schemas/shards.js";
import type { Config } from "../config/config.js";
import {
  createClusterMetrics,
  createRetentionMetrics,
  createScheduleMetrics,
} from "../metrics/jobs-metrics.js";
import { IMPORT_DONE, importDoneFields } from "../process/log.js";
import { cleanUpJobs } from "../schedule/scheduled-jobs.js";
import { type ScheduledJob, startSchedule } from "../schedule/start-schedule.js";
import { type RoleParts, resolveTxtAt } from "./role-parts.js";
import { startClientErasures } from "../schedule/client-erasures.js";
import { clusterServers } from "../stores/clickhouse/clickhouse-source.js";
import { watchServers } from "../stores/clickhouse/cluster/watch-servers.js";
import { notificationJob } from "./start-notifications.js";
import { startSourceRuns } from "./start-sources.js";
import { startWebhooks } from "./start-webhooks.js";

/**
 * Any number of processes may have this role: one at a time settles and erases for an owner, and one runs a
 * scheduled job.
 */
export function startJobs(parts: RoleParts): void {
  const { config, log, open, stores, registry, metrics, chunksWritten } = parts;
  const { shards, pg } = stores;
  watchCluster(parts);
  open.use(startWebhooks(parts));
  if (config.sources.isOn) open.use(startSourceRuns(parts));
  open.use(
    startSettler({
      shards,
      store: withPg(pg, { dueImports, abortAbandonedUploads, asOnlySettlement }),
      wakeUp: chunksWritten,
      onSettled: (settlement) => metrics.observeSettlement(settlement),
      onEnded: (ending, imports) => metrics.countEnded(ending, imports),
      onDone: (done) => log.info(importDoneFields(done), IMPORT_DONE),
      onFailure: (error) => log.warn({ err: error }, "settlement failed; retrying"),
    }),
  );
  open.use(
    startEraser({
      shards,
      store: withPg(pg, { ...deletedArtifacts, emptySamples, asOnlySettlement }),
      onErased: (artifacts) => log.info({ artifacts }, "erased all events of deleted packages and pixels"),
      onFailure: (error) =>
        log.warn({ err: error }, "erasing the events of deleted packages and pixels failed; retrying"),
    }),
  );
  open.use(startClientErasures(parts));
  open.use(
    startAddressSets({
      shards,
      whileNumbering: (work) => onConnection(pg, (client) => insertLock(client).whileNumbering(work)),
      onMade: (days) => log.debug({ days }, "stored unique-IP bitmaps of unchanged days"),
      onFull: () =>
        log.warn(
          "reached the limit of 4.27 billion distinct IP addresses; new days get no unique-IP bitmap, so their statistics are slower",
        ),
      onFailure: (error) => log.warn({ err: error }, "storing unique-IP bitmaps failed; retrying"),
    }),
  );
  const { retention } = config;
  const jobs = [
    ...cleanUpJobs({ shards, retention, ...createRetentionMetrics(registry) }),
    funnelJob(shards, config.funnelSchedule),
    notificationJob(parts),
    ...hostJobs(config),
  ];
  open.use(startSchedule(jobs, { pg, log, ...createScheduleMetrics(registry, jobs) }));
}

function watchCluster({ open, stores, registry }: RoleParts): void {
  const { url, cluster } = stores.clickhouseSource;
  if (cluster === undefined) return;
  const servers = open.use(watchServers(clusterServers(url, cluster)));
  createClusterMetrics(registry, { readServers: () => servers.read() });
}

/** Looks at hosts that their owners have not verified, where they have to. */
function hostJobs({ collect, dnsServers = [] }: Config): ScheduledJob[] {
  if (collect.verifiedHostsOnly !== true) return [];
  const resolveTxt = resolveTxtAt(dnsServers);
  const run: ScheduledJob["run"] = (pg, signal) => lookAtHosts(pg, { resolveTxt, signal });
  return [{ name: "hosts", schedule: "*/10 * * * *", run }];
}

function funnelJob(shards: Shards, schedule: string): ScheduledJob {
  return {
    name: "funnel",
    schedule,
    catchesUp: true,
    run: async (pg, signal) =>
      runFunnel(shards, {
        store: funnelStore(pg),
        pasts: pastStore(pg),
        asOf: await readRunTime(pg),
        signal,
      }),
  };
}
