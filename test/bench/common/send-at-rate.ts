import { pause } from "../../../schemas/async/pause.js";

export interface Rate {
  perSecond: number;
  seconds: number;
}

/** The latencies and answers of all requests. */
export interface SentAtRate {
  /** In order of due time. Measured from the due time, not from the send, so that a wait behind others counts. */
  latenciesMs: Float64Array;
  /** Counts by answer: an HTTP status, or another result of `send`. */
  answers: Map<string, number>;
  /** From the first due time to the last answer. */
  seconds: number;
}

export interface Clock {
  /** Milliseconds. */
  now: () => number;
  /** Waits as short as timers allow. */
  pause: () => Promise<unknown>;
}

const CLOCK: Clock = { now: () => performance.now(), pause: () => pause(1) };

/**
 * Sends requests at a constant rate, without waiting for earlier answers, as independent callers do. Rejects with the
 * first failure of `send`, after all requests have ended.
 */
export async function sendAtRate(
  { perSecond, seconds }: Rate,
  send: (index: number) => Promise<string>,
  { now, pause }: Clock = CLOCK,
): Promise<SentAtRate> {
  const latenciesMs = new Float64Array(perSecond * seconds);
  const answers = new Map<string, number>();
  const requests: Promise<void>[] = [];
  const startedMs = now();
  const dueMs = (index: number) => startedMs + (index * 1000) / perSecond;
  const sendOne = async (index: number) => {
    const answer = await send(index);
    latenciesMs[index] = now() - dueMs(index);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  };
  while (requests.length < latenciesMs.length) {
    if (dueMs(requests.length) <= now()) requests.push(sendOne(requests.length));
    else await pause();
  }
  const ended = await Promise.allSettled(requests);
  const failed = ended.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { latenciesMs, answers, seconds: (now() - startedMs) / 1000 };
}
