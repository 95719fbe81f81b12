import { aggregateRoutes } from "../../api/routes/aggregates.js";
import { documentRoutes } from "../../api/routes/document.js";
import { healthRoutes } from "../../api/routes/health.js";
import { importEndingRoutes } from "../../api/routes/import-endings.js";
import { importRecordRoutes } from "../../api/routes/import-records.js";
import { importRoutes } from "../../api/routes/imports.js";
import { organizationRoutes } from "../../api/routes/organizations.js";
import { packageRoutes } from "../../api/routes/packages.js";
import { pixelRoutes } from "../../api/routes/pixels.js";
import { buildDocument, type DescribedRoute } from "../../api/openapi/build-document.js";

/** What routes reach for when they are called; to describe them nothing is called. */
const UNUSED = {} as never;

/** Every route that needs a token. */
export const TOKEN_ROUTES = [
  ...organizationRoutes(UNUSED),
  ...packageRoutes(UNUSED),
  ...pixelRoutes(UNUSED),
  ...importRoutes(UNUSED),
  ...importEndingRoutes(UNUSED),
  ...importRecordRoutes(UNUSED),
  ...aggregateRoutes(UNUSED),
];

export const ALL_ROUTES: DescribedRoute[] = [
  ...healthRoutes(UNUSED),
  ...documentRoutes(() => buildDocument([], { version: "1.0.0" })),
  ...TOKEN_ROUTES,
];
