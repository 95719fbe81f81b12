import type { Middleware } from "koa";
import type { ApiState } from "../route.js";
import koaCors from "@koa/cors";
import { Problem } from "../../../../schemas/problem.js";

/** Answers hold one caller's data: they must not be sniffed, framed, cached or named in a Referer. */
export const SAFE_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
};

/** For what everybody may see: any page may show it, also a cross-origin isolated one, and read it. */
export const PUBLIC_HEADERS = {
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Access-Control-Allow-Origin": "*",
};

const A_YEAR = "max-age=31536000";

/** Sets HSTS only if callers reach the host by https. Runs after `publicBase`. */
export function securityHeaders(): Middleware<ApiState> {
  return (ctx, next) => {
    ctx.set(SAFE_HEADERS);
    if (ctx.state.publicBase.startsWith("https:")) ctx.set("Strict-Transport-Security", A_YEAR);
    return next();
  };
}

/** Lets pages of these origins (all with `*`) call the API with a token that they hold. Preflights need no token. */
export function cors(origins: readonly string[]): Middleware<ApiState> {
  if (origins.length === 0) return (_, next) => next();
  const anyone = origins.includes("*");
  return koaCors({
    origin: (ctx) => (anyone ? "*" : (origins.find((origin) => origin === ctx.get("Origin")) ?? "")),
    credentials: false,
    allowMethods: ["GET", "HEAD", "POST", "PUT", "DELETE"],
    allowHeaders: SENT,
    exposeHeaders: READ,
    maxAge: PREFLIGHT_SECONDS,
  });
}

const PREFLIGHT_SECONDS = 600;

const SENT = [
  "Authorization",
  "Content-Type",
  "Content-Encoding",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Mcp-Protocol-Version",
  "X-Request-Id",
];

/** Answer headers that a page may read. */
const READ = [
  "Allow",
  "Content-Disposition",
  "ETag",
  "Link",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Complete-Through",
  "X-Request-Id",
];

/** Whether a path belongs to the pages in the dashboard's frame, whose requests carry a browser's session. */
export function isOfPages(path: string): boolean {
  return /^\/(dashboard|docs\/guide)(\/|$)/.test(path);
}

/** Against CSRF: a change by a page must come from a page of this service. Throws `forbidden`. */
export function sameOrigin(): Middleware<ApiState> {
  return async (ctx, next) => {
    if (isOfPages(ctx.path)) {
      // With the API's no-referrer, browsers would send `Origin: null` from the service's own forms.
      ctx.set("Referrer-Policy", "same-origin");
      const sent = {
        method: ctx.method,
        site: ctx.get("Sec-Fetch-Site"),
        origin: ctx.get("Origin"),
      };
      if (!comesFromHere(sent, ctx.state.publicBase))
        throw new Problem(
          "forbidden",
          "This form must be sent from a page of this service. Reload the page and try again.",
        );
    }
    await next();
  };
}

interface SentFrom {
  method: string;
  site: string;
  origin: string;
}

/**
 * Browsers say in `Sec-Fetch-Site` where a request comes from, and pages cannot change it; `none` is the user's own
 * doing. `same-site` is refused: it is another port or a sister host. Browsers leave the header out for plain http
 * (except on this machine); there `Origin` must be this service's.
 */
export function comesFromHere({ method, site, origin }: SentFrom, publicBase: string): boolean {
  if (["GET", "HEAD", "OPTIONS"].includes(method)) return true;
  if (site !== "") return site === "same-origin" || site === "none";
  return origin !== "" && URL.canParse(publicBase) && origin === new URL(publicBase).origin;
}
