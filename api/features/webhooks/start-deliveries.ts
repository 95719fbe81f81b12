import type { Pool } from "pg";
import { passFaultPoint } from "../../../schemas/fault-point.js";
import { PRODUCT } from "../../base/http/product.js";
import type { Sealer } from "../../base/identity/tokens.js";
import type { AddressGuard } from "../../base/outbound/guard-address.js";
import { type Exchange, sendRequest } from "../../base/outbound/send-request.js";
import type { ClaimLimits } from "../../base/outbox/claim-items.js";
import { startOutbox } from "../../base/outbox/start-outbox.js";
import { signatureHeaders } from "./sign.js";
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  DELIVERIES,
  type Delivery,
  type DisabledWebhook,
  type Next,
  recordOutcomes,
} from "./delivery-attempts.js";

export interface DeliveryWorker {
  pg: Pool;
  guard: AddressGuard;
  sealer: Sealer;
  onAttempt?: (outcome: AttemptOutcome) => void;
  onDisabled?: (webhook: DisabledWebhook) => void;
  /** Called for a fault of the worker itself, never of a receiver. The worker continues. */
  onFailure: (error: unknown) => void;
  now?: () => Date;
  random?: () => number;
  timing?: Partial<DeliveryTiming>;
}

interface DeliveryTiming {
  delaysMs: readonly number[];
  exchangeMs: number;
  /** The duration of a claim, after which another worker may take the delivery; longer than an exchange. */
  leaseMs: number;
  /** The interval of looking for work while there is none. */
  pollMs: number;
}

/** The limits of concurrent attempts. Those of one webhook and one owner apply to all processes together. */
export const DELIVERY_LIMITS: ClaimLimits = { slots: 256, failingSlots: 64, perTarget: 8, perOwner: 64 };

const LEASE_MS = 15_000;

/**
 * Delivers the events of the outbox until disposed of. A repeated attempt has the same id and body and a new signature.
 */
export function startDeliveries(worker: DeliveryWorker): AsyncDisposable {
  const { pg, now, onAttempt, onDisabled, onFailure, timing = {} } = worker;
  return startOutbox<ClaimedDelivery, AttemptOutcome>({
    pg,
    queue: DELIVERIES,
    limits: DELIVERY_LIMITS,
    leaseMs: timing.leaseMs ?? LEASE_MS,
    async attempt(delivery) {
      const outcome = await makeAttempt(worker, delivery);
      onAttempt?.(outcome);
      return outcome;
    },
    async record(outcomes) {
      const disabled = await recordOutcomes(pg, outcomes, { now: now?.() });
      passFaultPoint("delivery-after-record");
      for (const webhook of disabled) onDisabled?.(webhook);
    },
    onFailure,
    now,
    pollMs: timing.pollMs,
  });
}

async function makeAttempt(worker: DeliveryWorker, delivery: ClaimedDelivery): Promise<AttemptOutcome> {
  const { guard, sealer, now = () => new Date(), random = Math.random, timing = {}, onFailure } = worker;
  const startedAt = now();
  const options = { guard, sealer, at: startedAt, timeoutMs: timing.exchangeMs };
  passFaultPoint("delivery-before-request");
  const exchange = await deliver(delivery, options).catch((error: unknown) => {
    onFailure(error);
    return { status: null, responseBody: "", error: "The request could not be sent.", durationMs: 0 };
  });
  if (exchange.status !== null) passFaultPoint("delivery-after-answer");
  const { attempts } = delivery;
  const next = nextAttempt(exchange, { attempts, random: random(), delaysMs: timing.delaysMs });
  return { delivery, exchange, next, startedAt };
}

/** Milliseconds from a failed attempt to the next. Three delays make four attempts in all. */
const RETRY_DELAYS_MS: readonly number[] = [10_000, 60_000, 360_000];
const SPREAD = 0.2;

/** Only without an answer; any answer is final. Spread by 20 %, so that a receiver does not get all at once. */
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
  attempts: number;
  /** In [0, 1). */
  random: number;
  delaysMs?: readonly number[] | undefined;
}

interface DeliverOptions {
  guard: AddressGuard;
  sealer: Sealer;
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

export function isSuccess({ status }: Pick<Exchange, "status">): boolean {
  return status !== null && status >= 200 && status < 300;
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (webhooks)`;
