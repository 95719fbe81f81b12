import { managementRoutes } from "../../../api/management-routes.js";
import { aggregateRoutes } from "../../../api/routes/exports/aggregates.js";
import { eventRoutes } from "../../../api/routes/exports/events.js";
import { companyRoutes } from "../../../api/routes/funnel/companies.js";
import { documentRoutes } from "../../../api/routes/document.js";
import { funnelRunRoutes } from "../../../api/routes/funnel/funnel-run.js";
import { funnelImportanceRoutes } from "../../../api/routes/funnel/funnel-importance.js";
import { funnelRoutes } from "../../../api/routes/funnel/funnel.js";
import { badgeRoutes } from "../../../api/routes/public/badges.js";
import { publicPageRoutes } from "../../../api/routes/public/public-pages.js";
import { healthRoutes } from "../../../api/routes/health.js";
import { erasureRoutes } from "../../../api/routes/erasures/erasures.js";
import { importEndingRoutes } from "../../../api/routes/imports/import-endings.js";
import { importFaultRoutes } from "../../../api/routes/imports/import-faults.js";
import { importRecordRoutes } from "../../../api/routes/imports/import-records.js";
import { importRoutes } from "../../../api/routes/imports/imports.js";
import { statisticsRoutes } from "../../../api/routes/statistics/statistics.js";
import { webhookDeliveryRoutes } from "../../../api/routes/webhooks/webhook-deliveries.js";
import { webhookSecretRoutes } from "../../../api/routes/webhooks/webhook-secrets.js";
import { webhookRoutes } from "../../../api/routes/webhooks/webhooks.js";
import { buildDocument } from "../../../api/openapi/build-document.js";
import type { DescribedRoute } from "../../../api/openapi/described-route.js";

/** Dependencies of routes when they are called; to describe them nothing is called. */
const UNUSED = {} as never;
const UNUSED_STORES = { pg: UNUSED, tokens: UNUSED };

/** Every route that needs a token. */
export const TOKEN_ROUTES = [
  ...managementRoutes(UNUSED_STORES),
  ...importRoutes(UNUSED),
  ...importEndingRoutes(UNUSED),
  ...importRecordRoutes(UNUSED),
  ...importFaultRoutes(UNUSED),
  ...aggregateRoutes(UNUSED),
  ...eventRoutes(UNUSED),
  ...webhookRoutes(UNUSED),
  ...webhookSecretRoutes(UNUSED),
  ...webhookDeliveryRoutes(UNUSED),
  ...companyRoutes(UNUSED),
  ...funnelRoutes(UNUSED),
  ...funnelImportanceRoutes(UNUSED),
  ...funnelRunRoutes(UNUSED),
  ...statisticsRoutes(UNUSED),
  ...erasureRoutes(UNUSED),
];

/** Routes that show what everybody may see of a package. */
export const PUBLIC_ROUTES = [...badgeRoutes(UNUSED), ...publicPageRoutes(UNUSED)];

export const ALL_ROUTES: DescribedRoute[] = [
  ...PUBLIC_ROUTES,
  ...healthRoutes(UNUSED),
  ...documentRoutes(() => buildDocument([], { version: "1.0.0" })),
  ...TOKEN_ROUTES,
];
