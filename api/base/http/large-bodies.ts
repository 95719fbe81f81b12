import { setImmediate } from "node:timers/promises";
import { limitConcurrency } from "../../../schemas/async/limit-concurrency.js";

/** The place of one large body in memory. */
export interface LargeBody extends Disposable {
  /** Runs `work` when no other large body is worked on. Other requests are answered in between. */
  inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result>;
}

/** `sender` is an account or a network. Throws `unavailable` where too many wait. */
export type TakeLargeBody = (sender: string, signal: AbortSignal) => Promise<LargeBody>;

/** A body above this size takes a place. */
export const SMALL_BYTES = 64 * 1024;

/** With 5 MiB each, the largest that any operation takes, they are 80 MiB. */
const AT_ONCE = { perKey: 4, inAll: 16 };

/** Bounds the memory of large bodies, and how long the process works on one without a pause. */
export function openLargeBodies(): TakeLargeBody {
  const takePlace = limitConcurrency(AT_ONCE);
  let last: Promise<unknown> = Promise.resolve();
  return async (sender, signal) => {
    const place = await takePlace([sender], signal);
    return {
      inTurn(work) {
        const done = last.then(() => setImmediate()).then(work);
        last = done.catch(() => undefined);
        return done;
      },
      [Symbol.dispose]: () => place[Symbol.dispose](),
    };
  };
}
