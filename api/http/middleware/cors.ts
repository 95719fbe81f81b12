import koaCors from "@koa/cors";
import type { Middleware } from "koa";
import type { ApiState } from "../route.js";

/**
 * Lets pages of these origins (all with `*`) call the API with a token that they hold. Browsers never add credentials
 * of their own. Preflights need no token. Without origins, no CORS header is set.
 */
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

/** Allowed request headers beyond those that browsers always allow. */
const SENT = [
  "Authorization",
  "Content-Type",
  "Content-Encoding",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "X-Request-Id",
];

/** Answer headers that a page may read. */
const READ = [
  "Allow",
  "Content-Disposition",
  "ETag",
  "Link",
  "Location",
  "Retry-After",
  "WWW-Authenticate",
  "X-Complete-Through",
  "X-Request-Id",
];
