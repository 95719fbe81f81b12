import type { Pool } from "pg";
import { pause } from "../../schemas/async/pause.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import { PRODUCT } from "../http/product.js";
import type { Sealer } from "../identity/tokens.js";
import type { AddressGuard } from "../outbound/guard-address.js";
import { type Exchange, sendRequest } from "../outbound/send-request.js";
import { signatureHeaders } from "./sign.js";
import {
  type ClaimedDelivery,
  type Delivery,
  type ServedLast,
  claimDeliveries,
  servedLast,
} from "./webhook-claims.js";
import { type AttemptOutcome, type DisabledWebhook, type Next, recordOutcomes } from "./webhook-outcomes.js";

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
export const DELIVERY_LIMITS = { slots: 256, failingSlots: 64, perWebhook: 8, perOwner: 64 };

const LEASE_MS = 15_000;
const POLL_MS = 500;
/** Attempts that end within this time are recorded in one statement. */
const GATHER_MS = 10;
/** The pause when the database is unavailable. */
const PAUSE_MS = 1_000;

/**
 * Delivers the events of the outbox until disposed of; attempts under way are then finished. Any number of processes
 * may do so: one worker at a time has a delivery. If an outcome could not be recorded, because the process or the
 * database failed, the attempt is repeated with the same id and body and a new signature.
 */
export function startDeliveries(worker: DeliveryWorker): AsyncDisposable {
  const stopping = new AbortController();
  const state: WorkerState = { underWay: new Set(), ended: [], last: {}, wake: () => undefined };
  const running = runWorker(worker, state, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      state.wake();
      await running;
    },
  };
}

interface WorkerState {
  underWay: Set<Promise<void>>;
  ended: AttemptOutcome[];
  last: ServedLast;
  wake: () => void;
}

async function runWorker(worker: DeliveryWorker, state: WorkerState, stop: AbortSignal): Promise<void> {
  while (!stop.aborted || state.underWay.size > 0 || state.ended.length > 0) {
    try {
      await recordEnded(worker, state);
      if (!stop.aborted) await begin(worker, state);
      await somethingToDo(worker, state, stop);
    } catch (error) {
      worker.onFailure(error);
      // The next process repeats an attempt that was not recorded before the end.
      if (stop.aborted) state.ended = [];
      else await pause(PAUSE_MS, { signal: stop });
    }
  }
}

async function recordEnded({ pg, now, onDisabled }: DeliveryWorker, state: WorkerState): Promise<void> {
  // More attempts may end while these are recorded.
  const ended = [...state.ended];
  if (ended.length === 0) return;
  const disabled = await recordOutcomes(pg, ended, { now: now?.() });
  passFaultPoint("delivery-after-record");
  state.ended = state.ended.slice(ended.length);
  for (const webhook of disabled) onDisabled?.(webhook);
}

async function begin(worker: DeliveryWorker, state: WorkerState): Promise<void> {
  const { pg, now, timing = {} } = worker;
  const slots = DELIVERY_LIMITS.slots - state.underWay.size;
  if (slots === 0) return;
  const leaseMs = timing.leaseMs ?? LEASE_MS;
  const limits = { ...DELIVERY_LIMITS, slots, after: state.last, leaseMs, now: now?.() };
  const claimed = await claimDeliveries(pg, limits);
  state.last = servedLast(claimed, state.last);
  for (const delivery of claimed) {
    const attempt = makeAttempt(worker, delivery).then((outcome) => {
      worker.onAttempt?.(outcome);
      state.ended.push(outcome);
      state.underWay.delete(attempt);
      state.wake();
    });
    state.underWay.add(attempt);
  }
}

async function makeAttempt(worker: DeliveryWorker, delivery: ClaimedDelivery): Promise<AttemptOutcome> {
  const { guard, sealer, now = () => new Date(), random = Math.random, timing = {}, onFailure } = worker;
  const startedAt = now();
  const options = { guard, sealer, at: startedAt, timeoutMs: timing.exchangeMs };
  passFaultPoint("delivery-before-request");
  const exchange = await deliver(delivery, options).catch((error: unknown) => {
    onFailure(error);
    return { status: null, responseBody: "", error: "The request could not be made.", durationMs: 0 };
  });
  if (exchange.status !== null) passFaultPoint("delivery-after-answer");
  const { attempts } = delivery;
  const next = nextAttempt(exchange, { attempts, random: random(), delaysMs: timing.delaysMs });
  return { delivery, exchange, next, startedAt };
}

/** Waits until attempts have ended, and gathers those that end soon after, or until the next look for work. */
async function somethingToDo(
  { timing = {} }: DeliveryWorker,
  state: WorkerState,
  stop: AbortSignal,
): Promise<void> {
  if (state.ended.length === 0 && !(stop.aborted && state.underWay.size === 0))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timing.pollMs ?? POLL_MS);
      state.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  if (state.underWay.size > 0) await pause(GATHER_MS);
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
