import { pino } from "pino";
import type { BrowserContext } from "playwright-core";
import { companyRoutes } from "../../../api/features/companies/company-routes.js";
import { importFaultRoutes, importRecordRoutes } from "../../../api/features/imports/import-record-routes.js";
import { statisticsRoutes } from "../../../api/features/statistics/statistics-routes.js";
import { openAdminStores } from "../../../deploy/commands/open-admin-stores.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import { serveApi } from "../api/management-api.js";
import { sessionCookie } from "./dashboard-world.js";

/** The dashboard of a running program once more, on its PostgreSQL, while its ClickHouse is away. */
export interface WithoutClickHouse extends AsyncDisposable {
  url: string;
  signIn(context: BrowserContext, username: string): Promise<void>;
}

/** Nothing listens on it. */
const AWAY = "http://127.0.0.1:1";

export async function serveWithoutClickHouse(dataDir: string): Promise<WithoutClickHouse> {
  const stores = await openAdminStores({ env: { DATA_DIR: dataDir }, isNew: false, note: () => undefined });
  const pg = connectPostgres({ url: stores.postgresUrl, connectionsMax: 4, log: pino({ level: "silent" }) });
  const clickhouse = connectClickHouse(AWAY);
  const deps = { pg, clickhouse };
  const routes = [
    ...statisticsRoutes(deps),
    ...importRecordRoutes(deps),
    ...importFaultRoutes(deps),
    ...companyRoutes(deps),
  ];
  const { url, tokens, ...api } = await serveApi({ pg, routes, secretKey: stores.secretKey });
  return {
    url,
    signIn: async (context, username) =>
      context.addCookies([await sessionCookie({ pg, tokens }, { username, base: url })]),
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await clickhouse.close();
      await pg.end();
      await stores[Symbol.asyncDispose]();
    },
  };
}
