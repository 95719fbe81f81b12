import { isSuccess } from "./deliver.js";
import type { Exchange } from "../outbound/send-request.js";

/** The state of a delivery once an attempt has ended. */
export type Next = { state: "delivered" | "failed" } | { state: "pending"; delayMs: number };

/** How long after a failed attempt the next one comes, at the earliest; as many retries as there are delays. */
export const RETRY_DELAYS_MS: readonly number[] = [10_000, 60_000, 360_000];
const SPREAD = 0.2;

/**
 * Only where no answer came is it tried again, so spread that receivers which were away are not met by everything at
 * once. `attempts` counts those before this one; `random` is in [0, 1).
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
  attempts: number;
  random: number;
  delaysMs?: readonly number[] | undefined;
}
