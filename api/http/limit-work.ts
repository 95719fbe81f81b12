import { type ShareLimits, limitConcurrency } from "../../schemas/async/limit-concurrency.js";
import { type Sharing, shareAnswers } from "../../schemas/async/share-work.js";
import { Problem } from "../../schemas/problem.js";
import type { ApiContext } from "./route.js";

interface WorkLimits {
  /** A caller's own requests wait for each other before they keep others waiting. */
  atOnce: ShareLimits;
  /** What a caller can do about work that takes too long, as a sentence. */
  remedy: string;
  /** Results that are kept to be shared. */
  sharedMax: number;
  /** Bounds waiting and working together. */
  timeMsMax?: number;
}

const TIME_MS_MAX = 20_000;
/** Pages that many people look at at once cost one query a second. */
export const SHARED_MS = 1_000;

interface Asking {
  caller: string;
  /** Without it nothing is shared. A request waits for its turn together with those that have the same key. */
  sharing?: Sharing;
}

/** Runs the work of a request for a caller. Its signal ends with the connection and after `timeMsMax`. */
export type RunLimited = <T extends object>(
  ctx: ApiContext,
  asking: Asking,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** Bounds what one caller's work costs others. Throws `unavailable` after too long, or if too many wait. */
export function limitWork({ atOnce, remedy, sharedMax, timeMsMax = TIME_MS_MAX }: WorkLimits): RunLimited {
  const take = limitConcurrency(atOnce);
  const share = shareAnswers<object>({ sharedMs: SHARED_MS, answersMax: sharedMax });

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
      throw new Problem("unavailable", `This takes longer than ${timeMsMax / 1000} s. ${remedy}`, {
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
