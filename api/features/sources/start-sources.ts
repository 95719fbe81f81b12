import type { Pool } from "pg";
import { startRepeating } from "../../../schemas/async/pause.js";
import type { SourceKind } from "../../../schemas/contracts/source.js";
import { DEFAULT_QUOTAS, type Quotas } from "../../base/access/quotas.js";
import { RANGE_DAYS_MAX, addDays, dateAt } from "../../../schemas/date-range.js";
import { daysOf, distinctCounters } from "./days-of.js";
import { type RegistryAccess, RegistryFailure, UnknownName, readRegistry } from "./read-registry.js";
import { type Published, UnexpectedAnswer } from "./registries/registry.js";
import { REGISTRIES } from "./registries/registries.js";
import {
  type ClaimedSource,
  type SuccessfulRun,
  claimSource,
  dueKinds,
  putFailure,
  putSuccess,
} from "./source-runs.js";

export const SOURCE_OUTCOMES = ["done", "unknown-name", "failed"] as const;
export type SourceOutcome = (typeof SOURCE_OUTCOMES)[number];

export interface SourcesWorker {
  pg: Pool;
  access: RegistryAccess;
  quotas?: Pick<Quotas, "annotations">;
  /** The next time of the schedule. */
  nextTime: (after: Date) => Date;
  onRun?: (kind: SourceKind, outcome: SourceOutcome) => void;
  /** Called for a fault of the worker itself, never of a registry. The worker continues. */
  onFailure: (error: unknown) => void;
  /** Replaces the clock that says which day it is, for tests. */
  now?: () => Date;
}

const HOUR_MS = 3_600_000;
const RETRY_MS = 15 * 60_000;
const RETRY_MS_MAX = 24 * HOUR_MS;

/**
 * Asks registries for the counts of every source that is due, until disposed of: one source of a registry at a time. Any
 * number of processes may do so, because one at a time has a source.
 */
export function startSources(worker: SourcesWorker): AsyncDisposable {
  const { pg, onFailure } = worker;
  const running = new Map<SourceKind, Promise<void>>();
  const repeating = startRepeating(
    async (signal) => {
      for (const kind of await dueKinds(pg)) {
        if (running.has(kind)) continue;
        const run = runKind(worker, kind, signal)
          .catch((error: unknown) => signal.aborted || onFailure(error))
          .finally(() => running.delete(kind));
        running.set(
          kind,
          run.then(() => undefined),
        );
      }
    },
    { onFailure },
  );
  return {
    async [Symbol.asyncDispose]() {
      await repeating[Symbol.asyncDispose]();
      await Promise.all(running.values());
    },
  };
}

/** Every source of this kind that is due, one after the other, until its registry wants fewer requests. */
export async function runKind(worker: SourcesWorker, kind: SourceKind, signal: AbortSignal): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    const source = await claimSource(worker.pg, { kind, after });
    if (source === undefined) return;
    after = source.accountId;
    const outcome = await runSource(worker, source, signal);
    worker.onRun?.(kind, outcome);
  }
}

async function runSource(
  worker: SourcesWorker,
  source: ClaimedSource,
  signal: AbortSignal,
): Promise<SourceOutcome> {
  const { pg, nextTime, quotas = DEFAULT_QUOTAS, now = () => new Date() } = worker;
  const begun = now();
  const nextRunAt = new Date(nextTime(begun).getTime() + spreadMs(source.id));
  try {
    const today = dateAt(begun.getTime());
    const counted = await countsOf(worker, { source, today, signal });
    await putSuccess(pg, { source, nextRunAt, today, counted, annotationsMax: quotas.annotations });
    return "done";
  } catch (error) {
    if (error instanceof UnknownName) {
      await putFailure(pg, { source, nextRunAt, sentence: error.message });
      return "unknown-name";
    }
    if (!(error instanceof RegistryFailure || error instanceof UnexpectedAnswer)) throw error;
    const retryMs = error instanceof RegistryFailure ? error.retryAfterMs : undefined;
    const until = new Date(Date.now() + pauseMs(source.failures, retryMs));
    await putFailure(pg, { source, nextRunAt: until, sentence: error.message });
    return "failed";
  }
}

interface Run {
  source: ClaimedSource;
  today: string;
  signal: AbortSignal;
}

async function countsOf(
  { pg, access }: SourcesWorker,
  { source, today, signal }: Run,
): Promise<SuccessfulRun["counted"]> {
  const { kind, name, etag, lastDate } = source;
  const found = await readRegistry({ pg, access }, { kind, name, today, etag: etag ?? undefined, signal });
  if (found === "unchanged") return found;
  const { windowDays } = REGISTRIES[kind];
  return {
    ...found,
    counts: daysOf(found.counts, { today, windowDays, lastDate: lastDate ?? undefined }),
    counters: distinctCounters(found.counters),
    releases: recentReleases(found.releases, today),
  };
}

const RELEASES_MAX = 100;

/** Of about the last year, each once, the newest of too many: a chart shows no more. */
function recentReleases(releases: readonly Published[], today: string): Published[] {
  const byKey = new Map(releases.map((each) => [each.key, each]));
  return [...byKey.values()]
    .filter(({ date }) => date >= addDays(today, -RANGE_DAYS_MAX))
    .toSorted((one, other) => (one.date < other.date ? 1 : -1))
    .slice(0, RELEASES_MAX);
}

/** A quarter of an hour, twice as long after each failure, up to a day; or as long as the registry says. */
function pauseMs(failures: number, retryAfterMs = 0): number {
  const doubled = RETRY_MS * 2 ** Math.min(failures, 10);
  return Math.min(Math.max(doubled, retryAfterMs), RETRY_MS_MAX);
}

/** Within an hour of the schedule's time, always the same for a source: registries do not get all at once. */
function spreadMs(id: string): number {
  return (Number.parseInt(id.slice(-6), 16) / 0x1000000) * HOUR_MS;
}
