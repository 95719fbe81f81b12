import { annotationRoutes } from "../../../api/features/packages/annotations/annotation-routes.js";
import {
  annotationSecretRoutes,
  githubReleaseRoutes,
} from "../../../api/features/packages/annotations/github-routes.js";
import { mcpRoutes } from "../../../api/features/assistants/mcp-routes.js";
import { managementRoutes } from "../../../api/management-routes.js";
import { aggregateRoutes } from "../../../api/features/exports/aggregates-routes.js";
import { eventRoutes } from "../../../api/features/exports/event-routes.js";
import { companyRoutes } from "../../../api/features/companies/company-routes.js";
import { documentRoutes } from "../../../api/base/http/docs/document-routes.js";
import { funnelRoutes, funnelRunRoutes } from "../../../api/features/companies/funnel-routes.js";
import { funnelImportanceRoutes } from "../../../api/features/companies/importance-routes.js";
import { notificationRoutes } from "../../../api/features/notifications/notification-routes.js";
import { notificationSendRoutes } from "../../../api/features/notifications/send-routes.js";
import { confirmationRoutes } from "../../../api/features/notifications/confirmation-routes.js";
import { mailPageRoutes } from "../../../api/features/notifications/mail-page-routes.js";
import { liveRoutes } from "../../../api/features/statistics/live/live-routes.js";
import { hostReachRoutes } from "../../../api/features/packages/host-reach-routes.js";
import { badgeRoutes } from "../../../api/features/public/badge-routes.js";
import { publicPageRoutes } from "../../../api/features/public/public-page-routes.js";
import { healthRoutes } from "../../../api/base/http/health-routes.js";
import { erasureRoutes } from "../../../api/features/erasures/erasure-routes.js";
import { importEndingRoutes } from "../../../api/features/imports/import-ending-routes.js";
import { importFaultRoutes, importRecordRoutes } from "../../../api/features/imports/import-record-routes.js";
import { importRoutes } from "../../../api/features/imports/import-routes.js";
import { reportedRoutes } from "../../../api/features/sources/reported-routes.js";
import { sourceRoutes } from "../../../api/features/sources/source-routes.js";
import { statisticsRoutes } from "../../../api/features/statistics/statistics-routes.js";
import { webhookDeliveryRoutes } from "../../../api/features/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../../api/features/webhooks/secret-routes.js";
import { webhookRoutes } from "../../../api/features/webhooks/webhook-routes.js";
import { buildDocument } from "../../../api/base/http/openapi/build-document.js";
import type { DescribedRoute } from "../../../api/base/http/openapi/components.js";

/** Dependencies of routes when they are called; to describe them nothing is called. */
const UNUSED = {} as never;

/** What makes the routes that need a token, beside those of the management API. */
export const ROUTE_MAKERS = [
  hostReachRoutes,
  liveRoutes,
  importRoutes,
  importEndingRoutes,
  importRecordRoutes,
  importFaultRoutes,
  aggregateRoutes,
  eventRoutes,
  webhookRoutes,
  webhookSecretRoutes,
  webhookDeliveryRoutes,
  notificationRoutes,
  confirmationRoutes,
  notificationSendRoutes,
  companyRoutes,
  funnelRoutes,
  funnelImportanceRoutes,
  funnelRunRoutes,
  reportedRoutes,
  sourceRoutes,
  annotationRoutes,
  annotationSecretRoutes,
  statisticsRoutes,
  erasureRoutes,
];

/** Every route that needs a token. */
export const TOKEN_ROUTES = [
  ...managementRoutes({ pg: UNUSED, tokens: UNUSED }),
  ...ROUTE_MAKERS.flatMap((make) => make(UNUSED)),
  ...mcpRoutes({ pg: UNUSED, routes: () => [] }),
];

/** Routes that need no token of an account: what everybody may see of a package, signed events, pages of mails. */
export const PUBLIC_ROUTES = [
  ...badgeRoutes(UNUSED),
  ...publicPageRoutes(UNUSED),
  ...githubReleaseRoutes(UNUSED),
  ...mailPageRoutes(UNUSED),
];

export const ALL_ROUTES: DescribedRoute[] = [
  ...PUBLIC_ROUTES,
  ...healthRoutes(UNUSED),
  ...documentRoutes(() => buildDocument([], { version: "1.0.0" })),
  ...TOKEN_ROUTES,
];
