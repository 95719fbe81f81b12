import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { aggregateRoutes } from "../../api/routes/aggregates.js";
import { companyRoutes } from "../../api/routes/companies.js";
import { funnelRoutes } from "../../api/routes/funnel.js";
import { importEndingRoutes } from "../../api/routes/import-endings.js";
import { importRecordRoutes } from "../../api/routes/import-records.js";
import { importRoutes } from "../../api/routes/imports.js";
import { openEmbeddedLog } from "../../deploy/embedded/event-log.js";
import { ActiveUploads } from "../../ingest/import/active-uploads.js";
import { openTestPostgres, serveApi, type ServedApi } from "./management-api.js";
import { openTestClickHouse } from "./open-clickhouse.js";

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
  const deps = { pg, eventLog, clickhouse: clickhouse.client, active: new ActiveUploads() };
  const makers = [importRoutes, importEndingRoutes, importRecordRoutes, aggregateRoutes];
  const further = [companyRoutes, funnelRoutes];
  const api = await serveApi({ pg, routes: [...makers, ...further].flatMap((make) => make(deps)) });
  const close = async () => {
    await api[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await clickhouse[Symbol.asyncDispose]();
    await eventLog[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  };
  return { api, pg, [Symbol.asyncDispose]: close };
}
