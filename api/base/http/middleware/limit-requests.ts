import type { Middleware } from "koa";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Problem } from "../../../../schemas/problem.js";
import { clientAddress, inProcessCaller } from "../../identity/client-address.js";
import { secondsUntil, spreadKeys } from "../../identity/failure-limits.js";
import type { ApiContext, ApiState } from "../route.js";

const WINDOW_SECONDS = 10;
/** Several people may share an address. */
const ACCOUNTS_PER_ADDRESS = 4;

interface RequestLimits {
  /** Of an account, on average over `WINDOW_SECONDS`. */
  perSecond: number;
  trustsProxy: (address: string) => boolean;
}

/**
 * Limits the requests of a client address, before anything is looked up for them, and of an account once it is known.
 * Every response has the state in the fields `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 * Health checks and the calls that this process makes for a request are not counted. Each process counts for itself.
 * Both throw `rate-limited`.
 */
export function limitRequests({ perSecond, trustsProxy }: RequestLimits): {
  ofAddress: Middleware<ApiState>;
  ofAccount: Middleware<ApiState>;
} {
  const account = openQuota({ name: "account", perSecond });
  const address = openQuota({ name: "address", perSecond: perSecond * ACCOUNTS_PER_ADDRESS });
  const counted = new WeakSet<ApiContext>();
  return {
    async ofAddress(ctx, next) {
      if (!isFree(ctx)) await address(ctx, clientAddress(ctx.req, trustsProxy));
      await next();
    },
    async ofAccount(ctx, next) {
      const caller = ctx.state.session?.account ?? ctx.state.account;
      if (caller !== undefined && !isFree(ctx) && !counted.has(ctx)) {
        counted.add(ctx);
        await account(ctx, caller.id);
      }
      await next();
    },
  };
}

function isFree({ req, path }: ApiContext): boolean {
  return path === "/healthz" || path === "/readyz" || inProcessCaller(req) !== undefined;
}

function openQuota({ name, perSecond }: { name: string; perSecond: number }) {
  const quota = perSecond * WINDOW_SECONDS;
  const requests = new RateLimiterMemory({ points: quota, duration: WINDOW_SECONDS });
  const keyFor = spreadKeys();
  return async (ctx: ApiContext, key: string): Promise<void> => {
    const used = await requests.penalty(keyFor(key));
    const remaining = Math.max(0, quota - used.consumedPoints);
    addItem(ctx, "RateLimit-Policy", `"${name}";q=${quota};w=${WINDOW_SECONDS}`);
    addItem(ctx, "RateLimit", `"${name}";r=${remaining};t=${secondsUntil(used)}`);
    if (used.consumedPoints <= quota) return;
    const sentence =
      `Your ${name} sent more than ${quota} requests in ${WINDOW_SECONDS} s. Try again in ` +
      `${secondsUntil(used)} s.`;
    throw new Problem("rate-limited", sentence, { retryAfterSeconds: secondsUntil(used) });
  };
}

function addItem(ctx: ApiContext, field: string, item: string): void {
  ctx.set(field, [ctx.response.get(field), item].filter(Boolean).join(", "));
}
