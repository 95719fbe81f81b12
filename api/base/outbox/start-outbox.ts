import type { Pool } from "pg";
import { pause } from "../../../schemas/async/pause.js";
import {
  type ClaimLimits,
  type Claimed,
  type Queue,
  type ServedLast,
  claimItems,
  renewLeases,
  servedLast,
} from "./claim-items.js";

export interface OutboxWorker<Item extends Claimed, Outcome> {
  pg: Pool;
  queue: Queue;
  /** Of this process. `perTarget` and `perOwner` apply to all processes together. */
  limits: ClaimLimits;
  /** The duration of a claim, after which another worker may take the item. A longer attempt renews it. */
  leaseMs: number;
  /** Sends an item once. Never rejects. */
  attempt: (item: Item) => Promise<Outcome>;
  record: (outcomes: readonly Outcome[]) => Promise<void>;
  /** Called for a fault of the worker itself, never of a receiver. The worker continues. */
  onFailure: (error: unknown) => void;
  now?: (() => Date) | undefined;
  /** The interval of looking for work while there is none. */
  pollMs?: number | undefined;
}

const POLL_MS = 500;
/** Attempts that end within this time are recorded in one statement. */
const GATHER_MS = 10;
/** The pause when the database is unavailable. */
const PAUSE_MS = 1_000;

/**
 * Sends the items of a queue until disposed of; attempts under way are then finished. Any number of processes may do
 * so: one worker at a time has an item. If an outcome could not be recorded, because the process or the database
 * failed, the attempt is repeated.
 */
export function startOutbox<Item extends Claimed, Outcome>(
  worker: OutboxWorker<Item, Outcome>,
): AsyncDisposable {
  const stopping = new AbortController();
  const state: WorkerState<Item, Outcome> = {
    underWay: new Map(),
    ended: [],
    last: {},
    lookAt: 0,
    waitMs: 0,
    wake: () => undefined,
  };
  const running = runWorker(worker, state, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      state.wake();
      await running;
    },
  };
}

interface WorkerState<Item, Outcome> {
  /** With the time at which the lease of each item began. */
  underWay: Map<Item, number>;
  ended: Outcome[];
  last: ServedLast;
  /** When the next look for work may begin: looks take at most half of the time, however many targets wait. */
  lookAt: number;
  /** How long to wait for something to do. */
  waitMs: number;
  wake: () => void;
}

async function runWorker<Item extends Claimed, Outcome>(
  worker: OutboxWorker<Item, Outcome>,
  state: WorkerState<Item, Outcome>,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted || state.underWay.size > 0 || state.ended.length > 0) {
    try {
      await recordEnded(worker, state);
      await renewOld(worker, state);
      if (!stop.aborted) await begin(worker, state);
      await somethingToDo(state, stop);
    } catch (error) {
      worker.onFailure(error);
      // The next process repeats an attempt that was not recorded before the end.
      if (stop.aborted) state.ended = [];
      else await pause(PAUSE_MS, { signal: stop });
    }
  }
}

async function recordEnded<Item extends Claimed, Outcome>(
  { record }: OutboxWorker<Item, Outcome>,
  state: WorkerState<Item, Outcome>,
): Promise<void> {
  // More attempts may end while these are recorded.
  const ended = [...state.ended];
  if (ended.length === 0) return;
  await record(ended);
  state.ended = state.ended.slice(ended.length);
}

/** Leases that are half over. */
async function renewOld<Item extends Claimed, Outcome>(
  { pg, queue, leaseMs, now }: OutboxWorker<Item, Outcome>,
  { underWay }: WorkerState<Item, Outcome>,
): Promise<void> {
  const before = performance.now() - leaseMs / 2;
  const claimed = [...underWay].filter(([, since]) => since < before).map(([item]) => item);
  if (claimed.length === 0) return;
  const renewedAt = performance.now();
  await renewLeases(pg, queue, { claimed, leaseMs, now: now?.() });
  for (const item of claimed) if (underWay.has(item)) underWay.set(item, renewedAt);
}

async function begin<Item extends Claimed, Outcome>(
  worker: OutboxWorker<Item, Outcome>,
  state: WorkerState<Item, Outcome>,
): Promise<void> {
  const { pg, queue, limits, leaseMs, now, pollMs = POLL_MS } = worker;
  const { underWay } = state;
  const slots = limits.slots - underWay.size;
  const earlyMs = state.lookAt - performance.now();
  state.waitMs = earlyMs > 0 ? Math.min(earlyMs, pollMs) : pollMs;
  if (slots === 0 || earlyMs > 0) return;
  const failing = [...underWay.keys()].filter(({ isFailing }) => isFailing).length;
  const failingSlots = Math.max(0, limits.failingSlots - failing);
  const options = { ...limits, slots, failingSlots, after: state.last, leaseMs, now: now?.() };
  const claimedAt = performance.now();
  const claimed = await claimItems<Item>(pg, queue, options);
  state.lookAt = 2 * performance.now() - claimedAt;
  state.last = servedLast(claimed, state.last);
  for (const item of claimed) {
    underWay.set(item, claimedAt);
    void worker.attempt(item).then((outcome) => {
      state.ended.push(outcome);
      underWay.delete(item);
      state.wake();
    });
  }
}

/** Waits until attempts have ended, and gathers those that end soon after, or until the next look for work. */
async function somethingToDo<Item, Outcome>(
  state: WorkerState<Item, Outcome>,
  stop: AbortSignal,
): Promise<void> {
  if (state.ended.length === 0 && !(stop.aborted && state.underWay.size === 0))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, state.waitMs);
      state.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  if (state.underWay.size > 0) await pause(GATHER_MS);
}
