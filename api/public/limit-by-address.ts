import { clientAddress } from "../identity/client-address.js";
import { FailureLimit } from "../identity/failure-limit.js";
import type { ApiContext } from "../http/route.js";
import { Problem } from "../../schemas/problem.js";

/** In a minute and for one address. Image proxies ask for the badges of many readers, but seldom, because they cache. */
export const REQUESTS_MAX = 300;

/** Counts a request without a token. Throws `rate-limited`. */
export type LimitByAddress = (ctx: ApiContext) => Promise<void>;

/** Bounds what one address may ask for without a token. Each process counts for itself. */
export function limitByAddress(trustsProxy: (address: string) => boolean): LimitByAddress {
  const limit = new FailureLimit(REQUESTS_MAX);
  return async (ctx) => {
    const { remoteAddress } = ctx.req.socket;
    const address = clientAddress({ remoteAddress, forwardedFor: ctx.get("X-Forwarded-For") }, trustsProxy);
    const retryAfterSeconds = await limit.countAttempt(address);
    if (retryAfterSeconds === 0) return;
    throw new Problem("rate-limited", "Too many requests came from your address; try again later.", {
      retryAfterSeconds,
    });
  };
}
