import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { aggregateRoutes } from "../../../api/routes/exports/aggregates.js";
import { eventRoutes } from "../../../api/routes/exports/events.js";
import { companyRoutes } from "../../../api/routes/funnel/companies.js";
import { funnelRunRoutes } from "../../../api/routes/funnel/funnel-run.js";
import { funnelImportanceRoutes } from "../../../api/routes/funnel/funnel-importance.js";
import { funnelRoutes } from "../../../api/routes/funnel/funnel.js";
import { erasureRoutes } from "../../../api/routes/erasures/erasures.js";
import { importEndingRoutes } from "../../../api/routes/imports/import-endings.js";
import { importFaultRoutes } from "../../../api/routes/imports/import-faults.js";
import { importRecordRoutes } from "../../../api/routes/imports/import-records.js";
import { importRoutes } from "../../../api/routes/imports/imports.js";
import { statisticsRoutes } from "../../../api/routes/statistics/statistics.js";
import { webhookDeliveryRoutes } from "../../../api/routes/webhooks/webhook-deliveries.js";
import { webhookSecretRoutes } from "../../../api/routes/webhooks/webhook-secrets.js";
import { webhookRoutes } from "../../../api/routes/webhooks/webhooks.js";
import { createSealer } from "../../../api/identity/tokens.js";
import { openEmbeddedLog } from "../../../deploy/stores/embedded/event-log/event-log.js";
import { ActiveUploads } from "../../../ingest/import/active-uploads.js";
import { createGuard } from "../../../api/outbound/create-guard.js";
import { openTestPostgres, SECRET_KEY, serveApi, type ServedApi } from "./management-api.js";
import { openTestClickHouse } from "../stores/open-clickhouse.js";

export interface WholeApi extends AsyncDisposable {
  api: ServedApi;
  pg: Pool;
}

/** Every route of the API on stores of its own, in this process; nothing consumes the event log. */
export async function openWholeApi(): Promise<WholeApi> {
  const dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-api-"));
  const [eventLog, clickhouse, postgres] = await Promise.all([
    openEmbeddedLog({ dir }),
    openTestClickHouse(),
    openTestPostgres(),
  ]);
  const { pg } = postgres;
  const guard = createGuard({ allowPrivateNetworks: true });
  const sealer = createSealer(SECRET_KEY, "webhook-secret");
  const deps = {
    pg,
    eventLog,
    clickhouse: clickhouse.client,
    shards: clickhouse.shards,
    active: new ActiveUploads(),
    guard,
    sealer,
  };
  const imports = [importRoutes, importEndingRoutes, importRecordRoutes, importFaultRoutes];
  const makers = [
    ...imports,
    aggregateRoutes,
    eventRoutes,
    companyRoutes,
    funnelRoutes,
    funnelImportanceRoutes,
    funnelRunRoutes,
    statisticsRoutes,
    erasureRoutes,
  ];
  const webhooks = [webhookRoutes, webhookSecretRoutes, webhookDeliveryRoutes];
  const api = await serveApi({ pg, routes: [...makers, ...webhooks].flatMap((make) => make(deps)) });
  const close = async () => {
    await api[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await clickhouse[Symbol.asyncDispose]();
    await eventLog[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  };
  return { api, pg, [Symbol.asyncDispose]: close };
}
