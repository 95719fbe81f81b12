import type { Middleware } from "koa";

/** Answers are data for one caller: not to be sniffed, framed, kept by a cache or named in a Referer. */
export function securityHeaders(): Middleware {
  return (ctx, next) => {
    ctx.set({
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": "DENY",
      "Referrer-Policy": "no-referrer",
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
      "Cache-Control": "no-store",
    });
    return next();
  };
}
