import type { Middleware } from "koa";
import { LastUsed } from "../../identity/last-used.js";
import { readCookie } from "../session-cookie.js";
import { findSession, type SessionDeps } from "../../identity/sessions.js";
import type { ApiState } from "../route.js";
import { updateSessionUsed } from "../../identity/stored-sessions.js";
import { isBelowDashboard } from "./same-origin.js";

/**
 * Sets `ctx.state.session` below `/dashboard` if the request has the cookie of a session. Nowhere else: the API takes
 * tokens alone, so that no page of another site can use a browser's session on it.
 */
export function session({ pg, tokens }: SessionDeps): Middleware<ApiState> {
  const lastUsed = new LastUsed((id) => updateSessionUsed(pg, id));
  return async (ctx, next) => {
    const secret = isBelowDashboard(ctx.path) ? readCookie(ctx, "session") : "";
    const found = secret === "" ? undefined : await findSession({ pg, tokens }, secret);
    if (found !== undefined) {
      ctx.state.session = found.session;
      if (found.usedLongAgo) lastUsed.note(found.session.id, ctx.state.log);
    }
    await next();
  };
}
