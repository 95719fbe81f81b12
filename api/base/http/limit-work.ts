import { LRUCache } from "lru-cache";
import { type ShareLimits, limitConcurrency } from "../../../schemas/async/limit-concurrency.js";
import { limitTime } from "../../../schemas/async/limit-time.js";
import { type SharedWork, shareWaiting } from "../../../schemas/async/share-work.js";
import { Problem } from "../../../schemas/problem.js";
import { bytesTag } from "./answers/headers.js";
import type { ApiContext } from "./route.js";

interface WorkLimits {
  /** A caller's own requests wait for each other before they keep others waiting. */
  atOnce: ShareLimits;
  /** What a caller can do about work that takes too long, as a sentence. */
  remedy: string;
  /** Answers that are kept for the next who ask, `KEPT_MAX` without it. */
  keptMax?: number;
  /** Bounds waiting and working together, for each request. */
  timeMsMax?: number;
  /** Says how old kept answers are. */
  clock?: Pick<Performance, "now">;
}

const TIME_MS_MAX = 20_000;
/**
 * Pages that many people look at at once cost one query a second. Where a query takes longer, it runs for a third of the
 * time at most, as long as the state stays equal.
 */
export const KEPT_MS = 1_000;
const KEPT_TIMES = 3;
const KEPT_MAX = 100;

interface Asking {
  caller: string;
  /**
   * Requests with the same key have the same right answer. Those that come while its work waits for its turn share that
   * work, and those that come while it is done share the next. Without a key nothing is shared.
   */
  key?: string | undefined;
}

/**
 * Returns the kept answer of the same key if its state is equal, for `KEPT_MS` or three times as long as it took, from when
 * its work began. Otherwise runs `work`.
 */
export type Reuse<T> = (state: string, work: () => Promise<T>) => Promise<T>;

export type LimitedWork<T> = (signal: AbortSignal, reuse: Reuse<T>) => Promise<T>;

/** Runs the work of a request for a caller. Its signal ends when the caller leaves and after `timeMsMax`. */
export type RunLimited = <T extends object>(
  ctx: ApiContext,
  asking: Asking,
  work: LimitedWork<T>,
) => Promise<T>;

/** Bounds what one caller's work costs others. Throws `unavailable` after too long, or if too many wait. */
export function limitWork(limits: WorkLimits): RunLimited {
  const { atOnce, remedy, keptMax = KEPT_MAX, timeMsMax = TIME_MS_MAX, clock = performance } = limits;
  const take = limitConcurrency(atOnce);
  /** Equal work is not done twice at the same time: both would take twice as long, and more of it would come meanwhile. */
  const takeTurn = limitConcurrency({ perKey: 1, inAll: Infinity });
  const share = shareWaiting<object>();
  const kept = new LRUCache<string, { state: string; answer: object }>({
    max: keptMax,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: clock,
    ttl: KEPT_MS,
  });

  function keep<T extends object>(key: string): Reuse<T> {
    const start = clock.now();
    return async (state, work) => {
      const known = kept.get(key);
      if (known?.state === state) return known.answer as T;
      const answer = await work();
      const ttl = Math.max(KEPT_MS, KEPT_TIMES * (clock.now() - start));
      kept.set(key, { state, answer }, { start, ttl });
      return answer;
    };
  }

  function inTurn<T extends object>({ caller, key }: Asking, work: LimitedWork<T>): SharedWork<T> {
    return async (signal, begin) => {
      using _turn = key === undefined ? undefined : await takeTurn([key], signal);
      using _permit = await take([caller], signal);
      signal.throwIfAborted();
      begin();
      return await work(signal, key === undefined ? (_, anew) => anew() : keep(key));
    };
  }

  return async <T extends object>(ctx: ApiContext, asking: Asking, work: LimitedWork<T>) => {
    // A key may have the ids of very many packages.
    const key = asking.key && bytesTag(asking.key);
    using limit = limitTime(timeMsMax, { outer: ctx.state.left });
    const { signal } = limit;
    try {
      const run = inTurn({ ...asking, key }, work);
      if (key === undefined) return await run(signal, () => undefined);
      return (await share(key, signal, run)) as T;
    } catch (cause) {
      if (!limit.isOver || cause instanceof Problem) throw cause;
      throw new Problem("unavailable", `The request took longer than ${timeMsMax / 1000} s. ${remedy}`, {
        retryAfterSeconds: 30,
        cause,
      });
    }
  };
}
