import type { Next } from "./webhook-outcomes.js";
import { type Exchange, sendRequest } from "../outbound/send-request.js";
import type { Delivery } from "./webhook-claims.js";
import type { Sealer } from "../identity/tokens.js";
import { PRODUCT } from "../http/product.js";
import type { AddressGuard } from "../outbound/guarded-lookup.js";
import { signatureHeaders } from "./sign.js";

/** Milliseconds from a failed attempt to the next. Three delays make four attempts in all. */
const RETRY_DELAYS_MS: readonly number[] = [10_000, 60_000, 360_000];
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

interface RetryState {
  /** Attempts before this one. */
  attempts: number;
  /** In [0, 1). */
  random: number;
  delaysMs?: readonly number[] | undefined;
}

interface DeliverOptions {
  guard: AddressGuard;
  sealer: Sealer;
  /** The time of the signature. */
  at: Date;
  timeoutMs?: number | undefined;
}

/** Signs and sends the event once. Rejects only if a secret was sealed with another SECRET_KEY. */
export async function deliver(
  delivery: Delivery,
  { guard, sealer, at, timeoutMs }: DeliverOptions,
): Promise<Exchange> {
  const { eventId: id, webhookId, url, body, secret, oldSecret } = delivery;
  const sealed = oldSecret === null ? [secret] : [secret, oldSecret];
  const secrets = sealed.map((each) => sealer.open(each, webhookId));
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": USER_AGENT,
    ...signatureHeaders({ id, body, secrets, at }),
  };
  return sendRequest({ url, headers, body }, { guard, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** Whether the receiver accepted the event. */
export function isSuccess({ status }: Pick<Exchange, "status">): boolean {
  return status !== null && status >= 200 && status < 300;
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (webhooks)`;
