import type { Middleware } from "koa";
import type { ApiState } from "../route.js";

/** Answers are data for one caller: not to be sniffed, framed, kept by a cache or named in a Referer. */
export const SAFE_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cache-Control": "no-store",
};

const A_YEAR = "max-age=31536000";

/** After `publicBase`: only a host that is reached by https is made to stay with it. */
export function securityHeaders(): Middleware<ApiState> {
  return (ctx, next) => {
    ctx.set(SAFE_HEADERS);
    if (ctx.state.publicBase.startsWith("https:")) ctx.set("Strict-Transport-Security", A_YEAR);
    return next();
  };
}
