import type { LatestEvent } from "../../../../aggregate/queries/events/latest-events.js";
import { pause } from "../../../../schemas/async/pause.js";

/** What a reader sees: the names of artifacts that it may see, by id. */
export interface Follower {
  names: ReadonlyMap<string, string>;
  /** At most ten, newest first, about once a second. */
  onEvents: (events: LatestEvent[]) => void;
}

/** Reads what came since a moment, in ms, of the artifacts of an owner. */
export type ReadSince = (asked: {
  ownerId: string;
  artifacts: readonly string[];
  sinceMs: number;
  signal: AbortSignal;
}) => Promise<LatestEvent[]>;

export interface LiveFeeds extends Disposable {
  /** Aborts when the feeds close. */
  readonly closed: AbortSignal;
  follow(ownerId: string, follower: Follower): Disposable;
}

/** Events that one reader gets at a time. */
export const EVENTS_MAX = 10;
const EVERY_MS = 1_000;
/** A busy enricher is so late. */
const BACK_MS = 60_000;
const FAILED_MS = 5_000;
const SEEN_MAX = 10_000;

/** Asks once a second for each owner who is followed, whoever follows; not at all while nobody does. */
export function openLiveFeeds(
  read: ReadSince,
  { everyMs = EVERY_MS, now = Date.now }: { everyMs?: number; now?: () => number } = {},
): LiveFeeds {
  const owners = new Map<string, Set<Follower>>();
  const stop = new AbortController();
  const { signal } = stop;

  async function run(ownerId: string, followers: Set<Follower>): Promise<void> {
    const seen = new Set<string>();
    while (followers.size > 0 && !signal.aborted) {
      const askedMs = now();
      const artifacts = [...new Set([...followers].flatMap(({ names }) => [...names.keys()]))];
      const asked = { ownerId, artifacts, sinceMs: askedMs - BACK_MS, signal };
      const events = await read(asked).catch(() => undefined);
      const fresh = (events ?? []).filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) remember(seen, id);
      for (const follower of followers) hand(follower, fresh);
      // A slow answer is asked for less often.
      await pause(events === undefined ? FAILED_MS : Math.max(everyMs, (now() - askedMs) * 4), { signal });
    }
    if (owners.get(ownerId) === followers) owners.delete(ownerId);
  }

  return {
    closed: signal,
    follow(ownerId, follower) {
      const followers = owners.get(ownerId) ?? new Set<Follower>();
      followers.add(follower);
      if (!owners.has(ownerId)) {
        owners.set(ownerId, followers);
        void run(ownerId, followers);
      }
      return { [Symbol.dispose]: () => void followers.delete(follower) };
    },
    [Symbol.dispose]: () => stop.abort(),
  };
}

function hand({ names, onEvents }: Follower, events: readonly LatestEvent[]): void {
  const allowed = events.filter(({ artifact_id: id }) => names.has(id)).slice(0, EVENTS_MAX);
  if (allowed.length > 0) onEvents(allowed);
}

/** Forgets the oldest. */
function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  const [first] = seen;
  if (seen.size > SEEN_MAX && first !== undefined) seen.delete(first);
}
