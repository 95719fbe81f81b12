import { Problem } from "../../../../schemas/problem.js";

/** Streams that are open at once, of one account and in all. Each process counts for itself. */
export const STREAMS_MAX = { perAccount: 5, inAll: 200 };
const RETRY_SECONDS = 30;

/** Counts a stream until it is disposed of. Throws `rate-limited` where there are too many. */
export type CountStream = (accountId: string) => Disposable;

export function countStreams({ perAccount, inAll } = STREAMS_MAX): CountStream {
  const open = new Map<string, number>();
  let all = 0;
  return (accountId) => {
    const own = open.get(accountId) ?? 0;
    if (own >= perAccount)
      throw tooMany(`You have ${own} open live streams, which is the maximum. Close one first.`);
    if (all >= inAll) throw tooMany("Too many live streams are open. Try again later.");
    open.set(accountId, own + 1);
    all += 1;
    return {
      [Symbol.dispose]() {
        all -= 1;
        const left = (open.get(accountId) ?? 1) - 1;
        if (left === 0) open.delete(accountId);
        else open.set(accountId, left);
      },
    };
  };
}

function tooMany(sentence: string): Problem {
  return new Problem("rate-limited", sentence, { retryAfterSeconds: RETRY_SECONDS });
}
