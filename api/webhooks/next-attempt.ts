import type { Next } from "./webhook-outcomes.js";
import { isSuccess } from "./deliver.js";
import type { Exchange } from "../outbound/send-request.js";

/** Milliseconds from a failed attempt to the next. Three delays make four attempts in all. */
export const RETRY_DELAYS_MS: readonly number[] = [10_000, 60_000, 360_000];
const SPREAD = 0.2;

/**
 * Decides after an attempt whether and when the delivery is tried again: only if no answer came. Any answer is final.
 * The delay is spread by 20 %, so that a receiver that comes back does not get all deliveries at once.
 */
export function nextAttempt(
  exchange: Pick<Exchange, "status">,
  { attempts, random, delaysMs = RETRY_DELAYS_MS }: RetryState,
): Next {
  if (isSuccess(exchange)) return { state: "delivered" };
  const delay = delaysMs[attempts];
  if (exchange.status !== null || delay === undefined) return { state: "failed" };
  return { state: "pending", delayMs: Math.round(delay * (1 - SPREAD + 2 * SPREAD * random)) };
}

export interface RetryState {
  /** Attempts before this one. */
  attempts: number;
  /** In [0, 1). */
  random: number;
  delaysMs?: readonly number[] | undefined;
}
