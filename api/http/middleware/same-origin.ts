import type { Middleware } from "koa";
import { Problem } from "../../../schemas/problem.js";
import type { ApiState } from "../route.js";

/** Whether a path belongs to the dashboard, whose requests carry a browser's session. */
export function isBelowDashboard(path: string): boolean {
  return /^\/dashboard(\/|$)/.test(path);
}

/**
 * Protects the dashboard from requests that other sites make a browser send (CSRF): below `/dashboard` a request that
 * may change something must come from a page of this service. Throws `forbidden`.
 */
export function sameOrigin(): Middleware<ApiState> {
  return async (ctx, next) => {
    if (isBelowDashboard(ctx.path)) {
      // With the API's no-referrer, browsers would send `Origin: null` from the service's own forms.
      ctx.set("Referrer-Policy", "same-origin");
      const sent = {
        method: ctx.method,
        site: ctx.get("Sec-Fetch-Site"),
        origin: ctx.get("Origin"),
      };
      if (!comesFromHere(sent, ctx.state.publicBase))
        throw new Problem("forbidden", "This must be sent from a page of this service; open the page anew.");
    }
    await next();
  };
}

export interface SentFrom {
  method: string;
  /** `Sec-Fetch-Site`; empty if absent. */
  site: string;
  /** `Origin`; empty if absent. */
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
