import { annotationRoutes } from "../../../api/annotations/annotation-routes.js";
import { annotationSecretRoutes, githubReleaseRoutes } from "../../../api/annotations/github-routes.js";
import { mcpRoutes } from "../../../api/assistants/mcp-routes.js";
import { managementRoutes } from "../../../api/management-routes.js";
import { aggregateRoutes } from "../../../api/exports/aggregates-routes.js";
import { eventRoutes } from "../../../api/exports/event-routes.js";
import { companyRoutes } from "../../../api/funnel/company-routes.js";
import { documentRoutes } from "../../../api/http/docs/document-routes.js";
import { funnelRoutes, funnelRunRoutes } from "../../../api/funnel/funnel-routes.js";
import { funnelImportanceRoutes } from "../../../api/funnel/importance-routes.js";
import { notificationRoutes } from "../../../api/notifications/notification-routes.js";
import { notificationSendRoutes } from "../../../api/notifications/send-routes.js";
import { confirmationRoutes } from "../../../api/notifications/confirmation-routes.js";
import { mailPageRoutes } from "../../../api/notifications/mail-page-routes.js";
import { liveRoutes } from "../../../api/live/live-routes.js";
import { hostReachRoutes } from "../../../api/packages/host-reach-routes.js";
import { badgeRoutes } from "../../../api/public/badge-routes.js";
import { publicPageRoutes } from "../../../api/public/public-page-routes.js";
import { healthRoutes } from "../../../api/http/health-routes.js";
import { erasureRoutes } from "../../../api/erasures/erasure-routes.js";
import { importEndingRoutes } from "../../../api/imports/import-ending-routes.js";
import { importFaultRoutes, importRecordRoutes } from "../../../api/imports/import-record-routes.js";
import { importRoutes } from "../../../api/imports/import-routes.js";
import { reportedRoutes } from "../../../api/sources/reported-routes.js";
import { sourceRoutes } from "../../../api/sources/source-routes.js";
import { statisticsRoutes } from "../../../api/statistics/statistics-routes.js";
import { webhookDeliveryRoutes } from "../../../api/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../../api/webhooks/secret-routes.js";
import { webhookRoutes } from "../../../api/webhooks/webhook-routes.js";
import { buildDocument } from "../../../api/http/openapi/build-document.js";
import type { DescribedRoute } from "../../../api/http/openapi/components.js";

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
