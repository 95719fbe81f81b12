import Router from "@koa/router";
import Koa from "koa";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { mcpRoutes } from "./features/assistants/mcp-routes.js";
import { type ApiListener, NO_LISTENER } from "./base/http/api-listener.js";
import { dashboardAssets } from "./web/assets/asset-files.js";
import {
  apiForSessions,
  dashboardErrors,
  dashboardPages,
  leadToDashboard,
} from "./dashboard/dashboard-routes.js";
import { PAGES, accountPages } from "./dashboard/pages.js";
import { type AuditEntry, insertAccessEntry } from "./base/access/audit-entries.js";
import { BODY_LIMITS } from "./base/http/body-limits.js";
import { type ExportPermits, openExportPermits } from "./base/http/export-permits.js";
import { openLargeBodies } from "./base/http/large-bodies.js";
import type { HostChecks } from "./features/packages/hosts/host-checks.js";
import { clientAddress, coarseNetwork, inProcessCaller } from "./base/identity/client-address.js";
import { FailedTokens } from "./base/identity/failure-limits.js";
import type { OpenIdProvider } from "./base/identity/openid.js";
import { managementRoutes } from "./management-routes.js";
import { accessLog, requestId } from "./base/http/middleware/access-log.js";
import { authenticate } from "./base/http/middleware/authenticate.js";
import { cors, sameOrigin, securityHeaders } from "./base/http/middleware/browser-security.js";
import { limitAtOnce } from "./base/http/middleware/limit-at-once.js";
import { limitRequests } from "./base/http/middleware/limit-requests.js";
import { limitStrangers } from "./base/http/middleware/limit-strangers.js";
import { negotiateAnswers, tagAnswers } from "./base/http/middleware/negotiate-answers.js";
import { answerProblems, onUncaught, refuseUnmatched } from "./base/http/middleware/answer-problems.js";
import { type CollectPlace, publicBase } from "./base/http/middleware/public-base.js";
import { limitQuery, parseQueriesOf } from "./base/http/middleware/query.js";
import { session } from "./base/http/middleware/session.js";
import { watchCaller } from "./base/http/middleware/watch-caller.js";
import { buildDocument } from "./base/http/openapi/build-document.js";
import { PRODUCT } from "./base/http/product.js";
import type { Quotas } from "./base/access/quotas.js";
import { changesCollected } from "./base/access/resources.js";
import {
  type ApiState,
  type PublicRoute,
  type Route,
  bodyLimitsOf,
  callRoute,
  pathsOf,
} from "./base/http/route.js";
import { documentRoutes } from "./base/http/docs/document-routes.js";
import { type Readiness, healthRoutes } from "./base/http/health-routes.js";
import type { TokenCipher } from "./base/identity/tokens.js";

export interface AppDeps {
  pg: Pool;
  tokens: TokenCipher;
  log: Logger;
  readiness: Readiness;
  /** The address at which people reach the API, whatever requests say; see `publicBase`. */
  publicUrl?: string | undefined;
  /** Whether `X-Forwarded-*` is trusted from this address. By default no address is trusted. */
  trustsProxy?: (address: string) => boolean;
  /** The address of live collection, for lines to copy; port 8081 of every host by default. */
  collect?: CollectPlace;
  listener?: ApiListener;
  /** Origins whose pages may call the API; see `cors`. None by default. */
  corsOrigins?: readonly string[];
  bodyMsMax?: number;
  openid?: OpenIdProvider | undefined;
  /** The words before a command of the operator, for lines to copy. */
  adminCommand?: string;
  /** Present if hosts have to be verified before they are served. */
  hosts?: HostChecks;
  quotas?: Quotas;
  /** How many entries of each of `ACCESS_ACTIONS` and each actor the audit log of an owner keeps. */
  auditAccessMax: number;
  exportPermits?: ExportPermits;
  /** Of an account; see `limitRequests`. */
  requestsPerSecond: number;
  routes?: readonly Route[];
  /** Resolves once live collection of this process serves every change that was committed before. */
  untilCollected?: () => Promise<void>;
  /** The same for everybody, without a token: badges and public pages. */
  publicRoutes?: readonly PublicRoute[];
}

/** The HTTP API. Each route reads its own body, because an import's body is a stream. */
export function createApp({
  pg,
  tokens,
  log,
  readiness,
  publicUrl,
  trustsProxy = () => false,
  collect,
  listener = NO_LISTENER,
  corsOrigins = [],
  bodyMsMax = BODY_MS_MAX,
  openid,
  adminCommand = "maintainer-toolchain admin",
  hosts,
  quotas,
  auditAccessMax,
  exportPermits = openExportPermits(),
  requestsPerSecond,
  routes = [],
  publicRoutes = [],
  untilCollected,
}: AppDeps): Koa<ApiState> {
  const app = new Koa<ApiState>();
  app.on("error", () => undefined); // Logged by onUncaught; without a listener Koa prints to the console.
  app.context.onerror = onUncaught;
  parseQueriesOf(app);
  const requests = limitRequests({ perSecond: requestsPerSecond, trustsProxy });
  app.use(requestId(log));
  app.use(watchCaller());
  app.use(accessLog((request) => listener.onAnswered(request)));
  app.use(publicBase(trustsProxy, collect, publicUrl));
  app.use(securityHeaders());
  app.use(cors(corsOrigins));
  app.use(negotiateAnswers());
  app.use(tagAnswers());
  app.use(answerProblems());
  app.use(requests.ofAddress);
  app.use(limitAtOnce());
  app.use(limitQuery());
  app.use(limitBodies({ bodyMsMax, trustsProxy }));
  app.use(limitExports(exportPermits));
  app.use(recordAccess(pg, auditAccessMax));
  app.use(leadToDashboard());
  app.use(dashboardAssets());
  app.use(dashboardErrors());
  app.use(sameOrigin());
  app.use(session({ pg, tokens, trustsProxy }));
  app.use(limitStrangers());
  app.use(requests.ofAccount);
  app.use(apiForSessions());
  app.use(dashboardPages([...accountPages({ pg, tokens, trustsProxy, openid, adminCommand }), ...PAGES]));
  const failed = new FailedTokens();
  app.use(authenticate({ pg, tokens, trustsProxy, failed }));
  app.use(requests.ofAccount);
  const onIssued = (token: string) => failed.rememberValid(tokens.hash(token));
  const all: Route[] = [
    ...managementRoutes({ pg, tokens, onIssued, collectHost: collect?.publicHost, hosts, quotas }),
    ...routes,
    ...mcpRoutes({ pg, corsOrigins, routes: () => all }),
  ];
  const open: PublicRoute[] = [
    ...publicRoutes,
    ...healthRoutes(readiness),
    ...documentRoutes(() => buildDocument([...open, ...all], { ...PRODUCT, publicUrl })),
  ];
  app.use(routerOf(all, open, untilCollected).routes());
  app.use(refuseUnmatched());
  return app;
}

const BODY_MS_MAX = 30_000;

/** Small ones, until the operation is known. */
function limitBodies({
  bodyMsMax,
  trustsProxy,
}: Required<Pick<AppDeps, "bodyMsMax" | "trustsProxy">>): Koa.Middleware<ApiState> {
  const takeLargeBody = openLargeBodies();
  return (ctx, next) => {
    const address = clientAddress(ctx.req, trustsProxy);
    const network = coarseNetwork(address) ?? address;
    Object.assign(ctx.state, { bodyMsMax, bodyLimits: BODY_LIMITS, takeLargeBody, network });
    return next();
  };
}

/** Calls in this process need none: they read at once, and a page must not wait for the exports of others. */
function limitExports({ take }: ExportPermits): Koa.Middleware<ApiState> {
  return (ctx, next) => {
    if (inProcessCaller(ctx.req) === undefined) ctx.state.takeExportPermit = take;
    return next();
  };
}

/** Entries of access are not worth a failed request: one that cannot be written is in the log. One is written at a time. */
function recordAccess(pg: Pool, entriesMax: number): Koa.Middleware<ApiState> {
  let written = Promise.resolve();
  return (ctx, next) => {
    const write = async (find: () => Promise<AuditEntry[]>) => {
      for (const entry of await find()) await insertAccessEntry(pg, entry, entriesMax);
    };
    ctx.state.recordAccess = (find) => {
      written = written
        .then(() => write(find))
        .catch((err: unknown) =>
          ctx.state.log.warn({ err }, "could not write the audit log entry of an export or failed sign-in"),
        );
    };
    return next();
  };
}

/** Paths are case-sensitive, so that routing and authentication see the same path. */
function routerOf(
  routes: readonly Route[],
  open: readonly PublicRoute[],
  untilCollected?: AppDeps["untilCollected"],
): Router<ApiState> {
  const router = new Router<ApiState>({ sensitive: true });
  for (const { method, path, operation, handle } of open) {
    router.register(path, [method], (ctx) => {
      ctx.state.route = path;
      ctx.state.bodyLimits = bodyLimitsOf(operation);
      return handle(ctx);
    });
  }
  for (const route of [...routes].sort(byLiteralStart)) {
    router.register(pathsOf(route), [route.method], async (ctx) => {
      await callRoute(route, ctx);
      if (changesCollected(route.action)) await untilCollected?.();
    });
  }
  return router;
}

/** `/v2/pixels/:owner` before `/v2/:owner/import`: the API's own path words are never owner names. */
function byLiteralStart(a: Route, b: Route): number {
  return Number(/^\/v2\/:/.test(pathsOf(a)[0] ?? "")) - Number(/^\/v2\/:/.test(pathsOf(b)[0] ?? ""));
}
