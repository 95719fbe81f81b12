import { annotationRoutes } from "../../api/features/packages/annotations/annotation-routes.js";
import {
  annotationSecretRoutes,
  githubReleaseRoutes,
} from "../../api/features/packages/annotations/github-routes.js";
import { createApp } from "../../api/app.js";
import { createHostChecks } from "../../api/features/packages/hosts/host-checks.js";
import { createSealer } from "../../api/base/identity/tokens.js";
import { OpenIdProvider } from "../../api/base/identity/openid.js";
import { aggregateRoutes } from "../../api/features/exports/aggregates-routes.js";
import { eventRoutes } from "../../api/features/exports/event-routes.js";
import { companyRoutes } from "../../api/features/companies/company-routes.js";
import { funnelRoutes, funnelRunRoutes } from "../../api/features/companies/funnel-routes.js";
import { funnelImportanceRoutes } from "../../api/features/companies/importance-routes.js";
import { erasureRoutes } from "../../api/features/erasures/erasure-routes.js";
import { openExportPermits } from "../../api/base/http/export-permits.js";
import { importEndingRoutes } from "../../api/features/imports/import-ending-routes.js";
import { importFaultRoutes, importRecordRoutes } from "../../api/features/imports/import-record-routes.js";
import { importRoutes } from "../../api/features/imports/import-routes.js";
import { badgeRoutes, limitByAddress } from "../../api/features/public/badge-routes.js";
import { publicPageRoutes } from "../../api/features/public/public-page-routes.js";
import { statisticsRoutes } from "../../api/features/statistics/statistics-routes.js";
import { createGuard } from "../../api/base/outbound/guard-address.js";
import { hostReachRoutes } from "../../api/features/packages/host-reach-routes.js";
import { openLiveFeeds } from "../../api/features/statistics/live/live-feeds.js";
import { liveRoutes, readSince } from "../../api/features/statistics/live/live-routes.js";
import { ActiveUploads } from "../../ingest/import/active-uploads.js";
import { awaitRoom, throttleOnBacklog, throttleOnLag } from "../../ingest/import/throttle-imports.js";
import { ENRICH_GROUP, type LagReader } from "../../schemas/records/event-log.js";
import { createApiMetrics } from "../metrics/api-metrics.js";
import { createApiServer } from "./servers/create-api-server.js";
import { type ListeningServer, listen, trustsProxy } from "./servers/listen.js";
import { type RoleParts, resolveTxtAt } from "./role-parts.js";
import { readinessOf } from "./readiness.js";
import { readEventRetention } from "../stores/open-event-log.js";
import { erasureSealer } from "../schedule/client-erasures.js";
import { openLineChecks } from "./start-line-checks.js";
import type { Collect } from "./start-collect.js";
import { mailPageApi, notificationApi } from "./start-notifications.js";
import { sourceApi } from "./start-sources.js";
import { webhookApi } from "./start-webhooks.js";

export async function startApi(parts: RoleParts, collect?: Collect): Promise<ListeningServer> {
  const { config, log, stores, secretKey, tokens, registry, metrics } = parts;
  const { pg, requests, exports: clickhouse, requestShards } = stores;
  const clickhouseRequests = requestShards.all;
  const isSharded = requestShards.shards.length > 1;
  const eventLog = await stores.eventLog();
  const active = new ActiveUploads();
  const { logLevel } = config;
  const eventRetention = await readEventRetention(stores.pg, config.retention.eventsDays);
  const lineChecks = openLineChecks({ postgresUrl: stores.postgresUrl, eventRetention, logLevel, log });
  const exportPermits = openExportPermits();
  const listener = createApiMetrics(registry, {
    exportPermits,
    activeUploads: () => active.size,
    onImportEnded: (ending) => metrics.countEnded(ending, 1),
  });
  const isProxy = trustsProxy(config.trustedProxies);
  const publicDeps = { pg: requests, clickhouse: clickhouseRequests, limit: limitByAddress(isProxy) };
  const releases = { pg: requests, sealer: createSealer(secretKey, "annotation-secret") };
  const feeds = openLiveFeeds(readSince({ pg: requests, clickhouse: clickhouseRequests }));
  const reached: { url?: string } = {};
  const app = createApp({
    pg: requests,
    tokens,
    log,
    readiness: readinessOf(stores),
    listener,
    publicUrl: config.publicUrl,
    trustsProxy: isProxy,
    // The port that it has, which may be any free one.
    collect: { ...config.collect, ...(collect && { port: Number(new URL(collect.url).port) }) },
    ...(config.collect.verifiedHostsOnly && {
      hosts: createHostChecks(resolveTxtAt(config.dnsServers ?? [])),
    }),
    quotas: config.quotas,
    auditAccessMax: config.auditAccessMax,
    exportPermits,
    requestsPerSecond: config.requestsPerSecond,
    corsOrigins: config.corsOrigins,
    openid: config.openid && new OpenIdProvider(config.openid),
    adminCommand: config.adminCommand,
    routes: [
      ...importRoutes({
        pg: requests,
        uploadsPg: pg,
        eventLog,
        codec: config.logCodec,
        active,
        arriving: parts.arriving,
        listener,
        bodyBytesMax: config.imports.bytesMax,
        throttle: () => throttleUpload(eventLog, collect),
        untilRoom: ({ ownerId, signal }) =>
          awaitRoom({
            unconsumed: async () => (await eventLog.unconsumedBytes?.(ownerId)) ?? 0,
            bytesMax: config.imports.backlogBytesMax,
            signal,
          }),
        checkLines: lineChecks.check,
      }),
      ...hostReachRoutes({ pg: requests, guard: createGuard(config.webhooks) }),
      ...importEndingRoutes({ pg: requests, active, listener }),
      ...importRecordRoutes({ pg: requests, clickhouse, listener }),
      ...importFaultRoutes({ pg: requests, clickhouse: clickhouseRequests }),
      ...aggregateRoutes({ pg: requests, clickhouse, isSharded, listener }),
      ...eventRoutes({ pg: requests, clickhouse, listener }),
      ...webhookApi(parts),
      ...notificationApi(parts, () => reached.url),
      ...companyRoutes({ pg: requests, clickhouse: clickhouseRequests }),
      ...funnelRoutes({ pg: requests }),
      ...funnelImportanceRoutes({ pg: requests }),
      ...funnelRunRoutes({ pg: requests, shards: requestShards }),
      ...erasureRoutes({ pg: requests, sealer: erasureSealer(secretKey) }),
      ...sourceApi(parts, listener),
      ...annotationRoutes({ pg: requests, quotas: config.quotas }),
      ...annotationSecretRoutes(releases),
      ...liveRoutes({ pg: requests, clickhouse: clickhouseRequests, feeds }),
      ...statisticsRoutes({ pg: requests, clickhouse: clickhouseRequests }),
    ],
    untilCollected: async () => collect?.caughtUp(),
    publicRoutes: [
      ...badgeRoutes(publicDeps),
      ...publicPageRoutes(publicDeps),
      ...githubReleaseRoutes({ ...releases, quotas: config.quotas }),
      // Of its own: who looks at many badges can still end mails.
      ...mailPageApi(parts, limitByAddress(isProxy)),
    ],
  });
  const handle = app.callback();
  const server = createApiServer((request, response) => void handle(request, response), { log });
  const listening = await listen(server, { ...config.http, variable: "PORT" });
  reached.url = listening.url;
  return {
    ...listening,
    async [Symbol.asyncDispose]() {
      // Their answers would not end by themselves.
      feeds[Symbol.dispose]();
      await listening[Symbol.asyncDispose]();
      await lineChecks[Symbol.asyncDispose]();
    },
  };
}

async function throttleUpload(eventLog: LagReader, collect?: Collect): Promise<void> {
  await throttleOnBacklog({ waiting: () => eventLog.lagOfQueue?.(ENRICH_GROUP, "express") ?? 0 });
  await throttleOnLag({ isOtherBusy: () => collect?.isBusy() ?? false });
}
