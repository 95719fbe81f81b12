import Router from "@koa/router";
import Koa from "koa";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { UNWATCHED, type ApiWatch } from "./api-watch.js";
import { accessLog } from "./middleware/access-log.js";
import { authenticate } from "./middleware/authenticate.js";
import { answerProblems, onUncaught } from "./middleware/answer-problems.js";
import { publicBase } from "./middleware/public-base.js";
import { refuseUnmatched } from "./middleware/refuse-unmatched.js";
import { requestId } from "./middleware/request-id.js";
import { securityHeaders } from "./middleware/security-headers.js";
import { callRoute, pathsOf, type ApiState, type Route } from "./route.js";
import { apiTokenRoutes } from "./routes/api-tokens.js";
import { auditRoutes } from "./routes/audit.js";
import { healthMiddleware, type Readiness } from "./routes/health.js";
import { memberRoutes } from "./routes/members.js";
import { organizationRoutes } from "./routes/organizations.js";
import { packageDomainRoutes } from "./routes/package-domains.js";
import { packagePermissionRoutes } from "./routes/package-permissions.js";
import { packageRecordRoutes } from "./routes/package-records.js";
import { packageRouteRoutes } from "./routes/package-routes.js";
import { packageRoutes } from "./routes/packages.js";
import { pixelRoutes } from "./routes/pixels.js";
import { userRoutes } from "./routes/user.js";
import type { TokenCipher } from "./tokens.js";

export interface AppDeps {
  pg: Pool;
  tokens: TokenCipher;
  log: Logger;
  readiness: Readiness;
  /** Whether `X-Forwarded-*` is believed from this address; from none by default. */
  trustsProxy?: (address: string) => boolean;
  watch?: ApiWatch;
  /** Operations that need more than PostgreSQL, such as imports and exports. */
  routes?: readonly Route[];
}

/**
 * The HTTP API as a Koa application; `http.createServer(createApp(deps).callback())` serves it. Bodies are read by
 * routes, never globally: an import's body is a stream.
 */
export function createApp({
  pg,
  tokens,
  log,
  readiness,
  trustsProxy = () => false,
  watch = UNWATCHED,
  routes = [],
}: AppDeps): Koa<ApiState> {
  const app = new Koa<ApiState>();
  app.on("error", () => undefined); // Logged by onUncaught; without a listener Koa prints to the console.
  app.context.onerror = onUncaught;
  app.use(requestId(log));
  app.use(accessLog((request) => watch.onAnswered(request)));
  app.use(publicBase(trustsProxy));
  app.use(securityHeaders());
  app.use(answerProblems());
  app.use(healthMiddleware(readiness));
  app.use(authenticate({ pg, tokens, trustsProxy }));
  const all = [
    ...userRoutes({ pg, tokens }),
    ...apiTokenRoutes({ pg, tokens }),
    ...auditRoutes({ pg }),
    ...organizationRoutes({ pg }),
    ...memberRoutes({ pg }),
    ...packageRoutes({ pg }),
    ...packageRecordRoutes({ pg }),
    ...packagePermissionRoutes({ pg }),
    ...packageRouteRoutes({ pg }),
    ...packageDomainRoutes({ pg }),
    ...pixelRoutes({ pg }),
    ...routes,
  ];
  app.use(routerOf(all).routes());
  app.use(refuseUnmatched());
  return app;
}

/** Case matters in paths, so that what is routed is what authentication looked at. */
function routerOf(routes: readonly Route[]): Router<ApiState> {
  const router = new Router<ApiState>({ sensitive: true });
  for (const route of [...routes].sort(byLiteralStart)) {
    router.register(pathsOf(route), [route.method], (ctx) => callRoute(route, ctx));
  }
  return router;
}

/** `/v2/pixels/:owner` before `/v2/:owner/import`: the words of the API's own paths are never owners. */
function byLiteralStart(a: Route, b: Route): number {
  return Number(/^\/v2\/:/.test(pathsOf(a)[0] ?? "")) - Number(/^\/v2\/:/.test(pathsOf(b)[0] ?? ""));
}
