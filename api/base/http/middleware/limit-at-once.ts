import type { Middleware } from "koa";
import { limitConcurrency } from "../../../../schemas/async/limit-concurrency.js";
import { limitTime } from "../../../../schemas/async/limit-time.js";
import { Problem } from "../../../../schemas/problem.js";
import { inProcessCaller } from "../../identity/client-address.js";
import type { ApiState } from "../route.js";

/**
 * Of an account. The calls that its pages make in this process have as many places again, since a page waits for them: both
 * together are half of the connections to PostgreSQL that requests have.
 */
const AT_ONCE = 4;
const WAIT_MS_MAX = 20_000;
const RETRY_SECONDS = 5;

/** Sets `ctx.state.takePlace`. A request that waits for its place leaves with its caller. */
export function limitAtOnce(): Middleware<ApiState> {
  const take = limitConcurrency({ perKey: AT_ONCE, inAll: Infinity });
  return (ctx, next) => {
    const kind = inProcessCaller(ctx.req) === undefined ? "requests" : "calls";
    const { left } = ctx.state;
    ctx.state.takePlace = async (accountId) => {
      using limit = limitTime(WAIT_MS_MAX, { outer: left });
      try {
        return await take([`${kind} of ${accountId}`], limit.signal);
      } catch (cause) {
        if (left.aborted) throw cause;
        const sentence = "Too many concurrent requests from your account. Send fewer at once.";
        throw new Problem("rate-limited", sentence, { retryAfterSeconds: RETRY_SECONDS, cause });
      }
    };
    return next();
  };
}
