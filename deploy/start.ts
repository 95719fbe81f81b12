import { hkdfSync } from "node:crypto";
import type { Logger } from "pino";
import { startSettler } from "../aggregate/start-settler.js";
import { createApp } from "../api/app.js";
import { aggregateRoutes } from "../api/routes/aggregates.js";
import type { Readiness } from "../api/routes/health.js";
import { importEndingRoutes } from "../api/routes/import-endings.js";
import { importRecordRoutes } from "../api/routes/import-records.js";
import { importRoutes } from "../api/routes/imports.js";
import { readCompleteThrough } from "../api/stores/complete-through.js";
import { countParkedChunks } from "../api/stores/parked-chunks.js";
import { settlementStore } from "../api/stores/settlements.js";
import { checkSecretKey } from "../api/stores/secret-key.js";
import { abortEveryUpload } from "../api/stores/uploads.js";
import { createTokenCipher, type TokenCipher } from "../api/tokens.js";
import { loadLookupData, type LookupData } from "../enrich/lookups/load-lookup-data.js";
import { ENRICH_GROUP } from "../enrich/start-worker.js";
import { ActiveUploads } from "../ingest/import/active-uploads.js";
import { ClosingStack } from "./closing-stack.js";
import { startCollectServer } from "./collect-server.js";
import type { Config } from "./config.js";
import { createApiServer } from "./create-api-server.js";
import { openDataDir, type Endpoints } from "./data-dir.js";
import { onReloadSignal } from "./lifecycle.js";
import { listen } from "./listen.js";
import { createRegistry, startMetricsServer } from "./metrics.js";
import { openStores, type Stores } from "./open-stores.js";
import { createPipelineMetrics, type PipelineMetrics } from "./pipeline-metrics.js";
import { loadSecretKey } from "./secret-key.js";
import { startEnrichment, type Enrichment } from "./start-enrichment.js";
import { StartFailure } from "./start-failure.js";
import { trustsProxy } from "./trusts-proxy.js";

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
  const lookups = config.roles.has("enrich") ? readLookups(config) : undefined;
  // Not both at once: stores that are still opening when the tables fail would be left behind.
  lookups?.catch(() => undefined);
  const stores = await openStores({ config, dataDir, log, open });
  const lookupData = await lookups;
  const tokens = createTokenCipher(secretKey);
  await checkKey(stores, tokens);
  // A database of our own serves this program alone: whatever was being uploaded ended with the one before.
  if (config.databaseUrl === undefined) await abortEveryUpload(stores.pg);
  const registry = createRegistry();
  const metrics = createPipelineMetrics(registry, {
    eventLog: stores.eventLog,
    countParked: () => countParkedChunks(stores.pg),
  });
  const parts = { config, log, open, stores, secretKey, tokens, metrics };
  const endpoints: Endpoints = { postgres: stores.postgresUrl, clickhouse: stores.clickhouseUrl };
  const enriching = lookupData && (await startEnriching({ ...parts, lookupData }));
  if (config.roles.has("jobs")) startSettling(parts);
  endpoints.metrics = open.use(await startMetricsServer({ ...config.metrics, registry })).url;
  const readiness = readinessOf(stores);
  if (config.roles.has("collect"))
    endpoints.collect = open.use(await startCollectServer(config.collect, { readiness, log })).url;
  if (config.roles.has("api")) endpoints.api = await startApi({ ...parts, readiness });
  await dataDir.writeEndpoints(endpoints);
  return {
    endpoints,
    stores,
    secretKey,
    lost: enriching === undefined ? stores.lost : Promise.race([stores.lost, enriching.lost]),
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

async function readLookups({ lookups }: Config): Promise<LookupData> {
  try {
    return await loadLookupData(lookups);
  } catch (error) {
    const given = [
      ["CITY_MMDB", lookups.cityMmdb],
      ["ASN_DB", lookups.asnDb],
      ["COMPANY_MMDB", lookups.companyMmdb],
    ].flatMap(([variable, path]) => (path === undefined ? [] : [variable]));
    throw new StartFailure(`${(error as Error).message} (${given.join(", ")})`, { cause: error });
  }
}

interface Parts extends Starting {
  stores: Stores;
  secretKey: Buffer;
  tokens: TokenCipher;
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
}: Parts & { lookupData: LookupData }): Promise<Pick<Enrichment, "lost">> {
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
      onOutcomes: (outcomes) => metrics.countOutcomes(outcomes),
      onParked: (chunks) => metrics.countParked(chunks),
    }),
  );
  const reload = onReloadSignal(
    async () => enrichment.reload(await loadLookupData(config.lookups)),
    (error) => log.error({ err: error }, "the lookup tables could not be read again; the old ones stay"),
  );
  open.defer(async () => reload[Symbol.dispose]());
  return enrichment;
}

/** Any number of processes may: an owner's imports are settled by one of them at a time. */
function startSettling({ log, open, stores, metrics }: Parts): void {
  open.use(
    startSettler({
      clickhouse: stores.clickhouse,
      store: settlementStore(stores.pg),
      onSettled: (settlement) => metrics.observeSettlement(settlement),
      onFailure: (error) => log.warn({ err: error }, "settlement failed and is tried again"),
    }),
  );
}

async function startApi({
  config,
  log,
  open,
  stores,
  tokens,
  readiness,
}: Parts & { readiness: Readiness }): Promise<string> {
  const { pg, exports: clickhouse, eventLog } = stores;
  const active = new ActiveUploads();
  const app = createApp({
    pg,
    tokens,
    log,
    readiness,
    trustsProxy: trustsProxy(config.trustedProxies),
    corsOrigins: config.corsOrigins,
    routes: [
      ...importRoutes({ pg, eventLog, active, bodyBytesMax: config.imports.bytesMax }),
      ...importEndingRoutes({ pg, active }),
      ...importRecordRoutes({ pg, clickhouse }),
      ...aggregateRoutes({ pg, clickhouse }),
    ],
  });
  const handle = app.callback();
  const server = createApiServer((request, response) => void handle(request, response), { log });
  return open.use(await listen(server, { ...config.http, variable: "PORT" })).url;
}

/** With another key every token would be wrong, and nobody would know why. */
async function checkKey({ pg }: Stores, tokens: TokenCipher): Promise<void> {
  try {
    await checkSecretKey(pg, tokens);
  } catch (error) {
    throw new StartFailure((error as Error).message, { cause: error });
  }
}

function readinessOf({ pg, clickhouse, eventLog }: Stores): Readiness {
  return {
    checks: {
      postgres: async () => void (await pg.query("select 1")),
      clickhouse: async () => void (await clickhouse.command({ query: "SELECT 1" })),
      event_log: async () => void (await eventLog.lag(ENRICH_GROUP)),
    },
    completeThrough: () => readCompleteThrough(pg),
  };
}
