import type { Middleware } from "koa";
import type { ApiState } from "../route.js";

/** Answers hold one caller's data: they must not be sniffed, framed, cached or named in a Referer. */
export const SAFE_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
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
