import { limitConcurrency } from "../../schemas/async/limit-concurrency.js";
import { Problem } from "../../schemas/problem.js";
import type { ApiContext } from "../http/route.js";
import { shareAnswers, type Sharing } from "../../schemas/async/share-work.js";

/** A caller's own requests wait for each other before they keep others waiting. */
const AT_ONCE = { perKey: 4, inAll: 8 };
/** Bounds waiting and reading together. */
const TIME_MS_MAX = 20_000;
/** Pages that many people look at at once cost one query a second. */
export const SHARED_MS = 1_000;
const ANSWERS_MAX = 100;

interface Asking {
  /** Id of the account. */
  caller: string;
  /** Without it nothing is shared. A request waits for its turn together with those that have the same key. */
  sharing?: Sharing;
}

/** Runs the work of a request for a caller. Its signal ends with the connection and after `TIME_MS_MAX`. */
export type RunLimited = <T extends object>(
  ctx: ApiContext,
  asking: Asking,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/**
 * Bounds what statistics cost: their queries read as much as they need to, and one caller must not slow others down.
 * The work throws `unavailable` when it takes too long, or too many wait already.
 */
export function limitStatistics({ timeMsMax = TIME_MS_MAX } = {}): RunLimited {
  const take = limitConcurrency(AT_ONCE);
  const share = shareAnswers<object>({ sharedMs: SHARED_MS, answersMax: ANSWERS_MAX });

  async function runInTime<T>(
    { caller, left, begin }: { caller: string; left: AbortSignal; begin: (() => void) | undefined },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(timeMsMax);
    const signal = AbortSignal.any([left, timeout]);
    try {
      using _permit = await take([caller], signal);
      signal.throwIfAborted();
      begin?.();
      return await work(signal);
    } catch (cause) {
      if (!timeout.aborted || cause instanceof Problem) throw cause;
      throw new Problem("unavailable", `This takes longer than ${timeMsMax / 1000} s. Ask for fewer days.`, {
        retryAfterSeconds: 30,
        cause,
      });
    }
  }

  return async <T extends object>(
    ctx: ApiContext,
    { caller, sharing }: Asking,
    work: (signal: AbortSignal) => Promise<T>,
  ) => {
    const left = new AbortController();
    const leave = () => left.abort();
    ctx.res.once("close", leave);
    try {
      const run = (signal: AbortSignal, begin?: () => void) =>
        runInTime({ caller, left: signal, begin }, work);
      return sharing === undefined ? await run(left.signal) : ((await share(sharing, left.signal, run)) as T);
    } finally {
      ctx.res.off("close", leave);
    }
  };
}
