import { hkdfSync } from "node:crypto";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { startEraser } from "../../aggregate/settlement/start-eraser.js";
import { startSettler } from "../../aggregate/settlement/start-settler.js";
import { createApp } from "../../api/app.js";
import { aggregateRoutes } from "../../api/routes/exports/aggregates.js";
import { eventRoutes } from "../../api/routes/exports/events.js";
import { companyRoutes } from "../../api/routes/funnel/companies.js";
import { funnelRoutes } from "../../api/routes/funnel/funnel.js";
import { importEndingRoutes } from "../../api/routes/imports/import-endings.js";
import { importRecordRoutes } from "../../api/routes/imports/import-records.js";
import { importRoutes } from "../../api/routes/imports/imports.js";
import { erasureStore } from "../../api/stores/packages/deleted-artifacts.js";
import { countParkedChunks } from "../../api/stores/imports/dead-letters.js";
import { settlementStore } from "../../api/stores/imports/settlements.js";
import { checkSecretKey } from "../../api/stores/accounts/secret-key.js";
import { abortEveryUpload } from "../../api/stores/imports/uploads.js";
import { createTokenCipher, type TokenCipher } from "../../api/identity/tokens.js";
import { loadLookupData, type LookupData } from "../../enrich/lookups/load-lookup-data.js";
import { ActiveUploads } from "../../ingest/import/active-uploads.js";
import { createApiMetrics } from "../metrics/api-metrics.js";
import { ClosingSet } from "../process/closing-set.js";
import { ClosingStack } from "../process/closing-stack.js";
import type { Config } from "../config/config.js";
import { createApiServer } from "../servers/create-api-server.js";
import { openDataDir, type Endpoints } from "../data-dir/data-dir.js";
import { funnelJob } from "./funnel-job.js";
import { onReloadSignal } from "../process/lifecycle.js";
import { listen, type ListeningServer } from "../servers/listen.js";
import { createRegistry, startMetricsServer } from "../metrics/metrics.js";
import { openStores, type Stores } from "../stores/open-stores.js";
import { createPipelineMetrics, type PipelineMetrics } from "../metrics/pipeline-metrics.js";
import { readLookups } from "../config/read-lookups.js";
import { readinessOf, roleChecks } from "./readiness.js";
import { refuseApart } from "../config/require-shared-stores.js";
import { createScheduleMetrics } from "../metrics/schedule-metrics.js";
import { SCHEDULED_JOBS } from "../schedule/scheduled-jobs.js";
import { loadSecretKey } from "../config/secret-key.js";
import { startCollect, type Collect } from "./start-collect.js";
import { startEnrichment, type Enrichment } from "./start-enrichment.js";
import { StartFailure } from "../process/start-failure.js";
import { startSchedule } from "../schedule/start-schedule.js";
import { startWebhooks, webhookApi } from "./start-webhooks.js";
import { trustsProxy } from "../servers/trusts-proxy.js";
import { haveHelpersYield } from "../process/thread-priority.js";

/** A started program: where it listens, and how it ends. */
export interface Running extends AsyncDisposable {
  endpoints: Endpoints;
  stores: Stores;
  secretKey: Buffer;
  /** Resolves with the reason when it cannot go on. */
  lost: Promise<Error>;
  /** Drains: takes nothing new, finishes what is in hand, then closes the stores. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the roles of the configuration on this machine. What was opened is closed again when a later part fails. */
export async function start(config: Config, log: Logger): Promise<Running> {
  refuseApart(config);
  haveHelpersYield();
  const open = new ClosingStack();
  try {
    return await startAll({ config, log, open });
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

interface Starting {
  config: Config;
  log: Logger;
  open: ClosingStack;
}

async function startAll({ config, log, open }: Starting): Promise<Running> {
  const dataDir = open.use(await openDataDir(config.dataDir));
  const required = config.databaseUrl !== undefined;
  const secretKey = await loadSecretKey({ fromConfig: config.secretKey, dataDir, required });
  const lookups = config.roles.has("enrich") ? readLookups(config.lookups) : undefined;
  // Not both at once: stores that are still opening when the tables fail would be left behind.
  lookups?.catch(() => undefined);
  const stores = await openStores({ config, dataDir, log, open });
  const lookupData = await lookups;
  const tokens = createTokenCipher(secretKey);
  await checkKey(stores, tokens);
  const registry = createRegistry();
  const metrics = createPipelineMetrics(registry, {
    eventLog: { lag: async (group) => (await stores.eventLog()).lag(group) },
    countParked: () => countParkedChunks(stores.pg),
  });
  // A database of our own serves this program alone: whatever was being uploaded ended with the one before.
  if (config.databaseUrl === undefined) metrics.countEnded("lost", await abortEveryUpload(stores.pg));
  const parts = { config, log, open, stores, secretKey, tokens, registry, metrics };
  const endpoints: Endpoints = { postgres: stores.postgresUrl, clickhouse: stores.clickhouseUrl };
  let enrichment: Enrichment | undefined = undefined;
  let collect: Collect | undefined = undefined;
  const roles = { roles: config.roles, enrichment: () => enrichment, collect: () => collect };
  const observed = {
    checks: roleChecks(stores, roles),
    metrics: async () => (await registry.metrics()) + ((await collect?.metrics()) ?? ""),
  };
  // Opened first, so that it is closed last: it tells of the drain as well.
  endpoints.metrics = open.use(await startMetricsServer({ ...config.metrics, ...observed })).url;
  enrichment = lookupData && (await startEnriching({ ...parts, lookupData }));
  if (config.roles.has("jobs")) startJobs(parts);
  const servers = open.use(new ClosingSet());
  if (config.roles.has("collect")) {
    collect = servers.use(await startCollect(parts));
    endpoints.collect = collect.url;
  }
  if (config.roles.has("api")) endpoints.api = servers.use(await startApi(parts)).url;
  await dataDir.writeEndpoints(endpoints);
  return {
    endpoints,
    stores,
    secretKey,
    lost: Promise.race([stores, enrichment, collect].flatMap((part) => part?.lost ?? [])),
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

interface Parts extends Starting {
  stores: Stores;
  secretKey: Buffer;
  tokens: TokenCipher;
  registry: Registry;
  metrics: PipelineMetrics;
}

async function startEnriching({
  config,
  log,
  open,
  stores,
  secretKey,
  metrics,
  lookupData,
}: Parts & { lookupData: LookupData }): Promise<Enrichment> {
  const enrichment = open.use(
    await startEnrichment({
      workers: config.enrich.workers,
      log,
      logLevel: config.logLevel,
      logSource: stores.logSource,
      postgresUrl: stores.postgresUrl,
      clickhouseUrl: stores.clickhouseUrl,
      originKey: new Uint8Array(hkdfSync("sha256", secretKey, "", "maintainer-toolchain origin ids v1", 32)),
      lookupData,
      watch: metrics.enrichment,
    }),
  );
  const reload = onReloadSignal(
    async () => enrichment.reload(await loadLookupData(config.lookups)),
    (error) => log.error({ err: error }, "the lookup tables could not be read again; the old ones stay"),
  );
  open.defer(async () => reload[Symbol.dispose]());
  return enrichment;
}

/**
 * Any number of processes may run them: what is an owner's is settled and erased by one of them at a time, a
 * scheduled job is done by one.
 */
function startJobs(parts: Parts): void {
  const { config, log, open, stores, registry, metrics } = parts;
  open.use(startWebhooks(parts));
  open.use(
    startSettler({
      clickhouse: stores.clickhouse,
      store: settlementStore(stores.pg),
      onSettled: (settlement) => metrics.observeSettlement(settlement),
      onEnded: (ending, imports) => metrics.countEnded(ending, imports),
      onFailure: (error) => log.warn({ err: error }, "settlement failed and is tried again"),
    }),
  );
  open.use(
    startEraser({
      clickhouse: stores.clickhouse,
      store: erasureStore(stores.pg),
      onErased: (artifacts) => log.info({ artifacts }, "nothing is left of deleted packages and pixels"),
      onFailure: (error) => log.warn({ err: error }, "erasing failed and is tried again"),
    }),
  );
  const { clickhouse, pg } = stores;
  const jobs = [...SCHEDULED_JOBS, funnelJob({ clickhouse, schedule: config.funnelSchedule })];
  open.use(startSchedule(jobs, { pg, log, ...createScheduleMetrics(registry, jobs) }));
}

async function startApi(parts: Parts): Promise<ListeningServer> {
  const { config, log, stores, tokens, registry, metrics } = parts;
  const { pg, requests, exports: clickhouse, clickhouseRequests } = stores;
  const eventLog = await stores.eventLog();
  const active = new ActiveUploads();
  const watch = createApiMetrics(registry, {
    activeUploads: () => active.size,
    onImportEnded: (ending) => metrics.countEnded(ending, 1),
  });
  const app = createApp({
    pg: requests,
    tokens,
    log,
    readiness: readinessOf(stores),
    watch,
    trustsProxy: trustsProxy(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    routes: [
      ...importRoutes({
        pg: requests,
        uploadsPg: pg,
        eventLog,
        codec: config.logCodec,
        active,
        watch,
        bodyBytesMax: config.imports.bytesMax,
      }),
      ...importEndingRoutes({ pg: requests, active, watch }),
      ...importRecordRoutes({ pg: requests, clickhouse, watch }),
      ...aggregateRoutes({ pg: requests, clickhouse, watch }),
      ...eventRoutes({ pg: requests, clickhouse, watch }),
      ...webhookApi(parts),
      ...companyRoutes({ pg: requests, clickhouse: clickhouseRequests }),
      ...funnelRoutes({ pg: requests }),
    ],
  });
  const handle = app.callback();
  const server = createApiServer((request, response) => void handle(request, response), { log });
  return listen(server, { ...config.http, variable: "PORT" });
}

/** With another key every token would be wrong, and nobody would know why. */
async function checkKey({ pg }: Stores, tokens: TokenCipher): Promise<void> {
  try {
    await checkSecretKey(pg, tokens);
  } catch (error) {
    throw new StartFailure((error as Error).message, { cause: error });
  }
}
