import { limitConcurrency } from "../../schemas/async/limit-concurrency.js";
import { Problem } from "../../schemas/problem.js";
import type { ApiContext } from "../route.js";

/** A caller's own requests wait for each other before they keep others waiting. */
const AT_ONCE = { perKey: 4, inAll: 8 };
/** Of waiting and reading together. */
const TIME_MS_MAX = 20_000;

/** Runs the work of a request for a caller. Its signal ends with the connection and after `TIME_MS_MAX`. */
export type RunLimited = <T>(
  ctx: ApiContext,
  caller: string,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/**
 * Bounds what statistics cost: their queries read as much as they need to, and one caller must not slow others down.
 * The work throws `unavailable` when it takes too long, or too many wait already.
 */
export function limitStatistics({ timeMsMax = TIME_MS_MAX } = {}): RunLimited {
  const take = limitConcurrency(AT_ONCE);
  return async (ctx, caller, work) => {
    const left = new AbortController();
    const leave = () => left.abort();
    ctx.res.once("close", leave);
    const timeout = AbortSignal.timeout(timeMsMax);
    const signal = AbortSignal.any([left.signal, timeout]);
    let permit: Disposable | undefined;
    try {
      permit = await take([caller], signal);
      signal.throwIfAborted();
      return await work(signal);
    } catch (cause) {
      if (!timeout.aborted || cause instanceof Problem) throw cause;
      throw new Problem("unavailable", `This takes longer than ${timeMsMax / 1000} s. Ask for fewer days.`, {
        retryAfterSeconds: 30,
        cause,
      });
    } finally {
      permit?.[Symbol.dispose]();
      ctx.res.off("close", leave);
    }
  };
}
