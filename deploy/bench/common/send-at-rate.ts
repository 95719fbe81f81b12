import { setTimeout as sleep } from "node:timers/promises";

export interface Rate {
  perSecond: number;
  seconds: number;
}

/** How long each request took, and how they were answered. */
export interface SentAtRate {
  /** In the order of their times. From when each was due, not from when it was sent: waiting behind others counts. */
  latenciesMs: Float64Array;
  /** How often each answer came: an HTTP status, or what else `send` calls it. */
  answers: Map<string, number>;
  /** From the time of the first to the last answer. */
  seconds: number;
}

export interface Clock {
  /** Milliseconds. */
  now: () => number;
  /** Waits for a moment: as short as timers allow. */
  pause: () => Promise<unknown>;
}

const CLOCK: Clock = { now: () => performance.now(), pause: () => sleep(1) };

/**
 * Sends requests evenly, each at its time whether or not earlier ones are answered, as callers do who know nothing of
 * each other. Rejects with the first failure of `send`, once all are answered.
 */
export async function sendAtRate(
  { perSecond, seconds }: Rate,
  send: (index: number) => Promise<string>,
  { now, pause }: Clock = CLOCK,
): Promise<SentAtRate> {
  const latenciesMs = new Float64Array(perSecond * seconds);
  const answers = new Map<string, number>();
  const underWay: Promise<void>[] = [];
  const startedMs = now();
  const dueMs = (index: number) => startedMs + (index * 1000) / perSecond;
  const sendOne = async (index: number) => {
    const answer = await send(index);
    latenciesMs[index] = now() - dueMs(index);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  };
  while (underWay.length < latenciesMs.length) {
    if (dueMs(underWay.length) <= now()) underWay.push(sendOne(underWay.length));
    else await pause();
  }
  const ended = await Promise.allSettled(underWay);
  const failed = ended.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return { latenciesMs, answers, seconds: (now() - startedMs) / 1000 };
}
