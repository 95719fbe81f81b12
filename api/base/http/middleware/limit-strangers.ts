import type { Middleware } from "koa";
import { Problem } from "../../../../schemas/problem.js";
import { inProcessCaller } from "../../identity/client-address.js";
import { FailureLimit } from "../../identity/failure-limits.js";
import type { ApiContext, ApiState } from "../route.js";
import { needsToken } from "./authenticate.js";

/** Refused requests of one network in a minute. */
export const REFUSALS_MAX = 300;

/**
 * Bounds what somebody without a session or a token may have looked at: forms of sign-in, signed events, links in mails. A
 * network that sent many that were refused is refused before any of a body is read. Runs after `session`. Throws
 * `rate-limited`. Each process counts for itself.
 */
export function limitStrangers(): Middleware<ApiState> {
  const refused = new FailureLimit(REFUSALS_MAX);
  return async (ctx, next) => {
    if (!isOfStranger(ctx)) return void (await next());
    const { network } = ctx.state;
    const retryAfterSeconds = await refused.countAttempt(network);
    if (retryAfterSeconds > 0)
      throw new Problem("rate-limited", "Too many failed requests from your network. Try again later.", {
        retryAfterSeconds,
      });
    await next();
    if (ctx.status < 400) await refused.forgive(network);
  };
}

/** `authenticate` looks at tokens before anything is read, and has limits of its own. */
function isOfStranger(ctx: ApiContext): boolean {
  const isRead = ["GET", "HEAD", "OPTIONS"].includes(ctx.method);
  return !isRead && !ctx.state.session && !needsToken(ctx) && !inProcessCaller(ctx.req);
}
