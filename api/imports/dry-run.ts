import { setImmediate as nextTurn } from "node:timers/promises";
import { addTally, emptyTally } from "../../enrich/lines/tally-lines.js";
import { cutChunks } from "../../ingest/import/cut-chunks.js";
import { readWhileSent } from "../../ingest/import/read-while-sent.js";
import { CHUNK_LIMITS } from "../../ingest/import/receive-import.js";
import { untilAborted } from "../../schemas/async/pause.js";
import { Shares } from "../../schemas/async/limit-concurrency.js";
import { Problem } from "../../schemas/problem.js";
import type { DryRun } from "../../schemas/records/import-store.js";
import type { CheckLines, LinesToCheck } from "./check-lines.js";
import { tooManyActiveImports } from "./imports.js";
import { ACTIVE_IMPORTS_MAX } from "./start-imports.js";

interface DryRunDependencies {
  checkLines: CheckLines;
  /** Milliseconds since the epoch. */
  now: () => number;
  idleMsMax?: number | undefined;
  /** Waits between chunks while there are other requests. */
  throttle?: (() => Promise<unknown>) | undefined;
  /** Aborted when the caller leaves. */
  left?: AbortSignal;
  limits?: Partial<typeof DRY_RUN_LIMITS>;
}

const DRY_RUN_LIMITS = {
  /** Blank lines counted, exact to a chunk. */
  linesMax: 1_000_000,
  /** From the first byte to the answer. */
  durationMsMax: 600_000,
};

/** Small chunks: the checks of all owners take turns after each. */
const LIMITS = { ...CHUNK_LIMITS, bytesTarget: 64 * 1024 };
const RETRY_AFTER_SECONDS = 60;

/**
 * Answers the counts and samples that an import of this body would end with. Validates in the same way and stores
 * nothing. Holds one chunk at a time, and begins no other once the caller has left.
 * @throws Problem `too-large` above the lines, `unavailable` above the time that one dry run may have
 */
export async function dryRun(
  body: AsyncIterable<Buffer>,
  target: LinesToCheck["target"],
  { checkLines, now, idleMsMax, throttle = nextTurn, left, limits }: DryRunDependencies,
): Promise<DryRun> {
  const { linesMax, durationMsMax } = { ...DRY_RUN_LIMITS, ...limits };
  using time = limitTime(durationMsMax);
  const signal = left === undefined ? time.signal : AbortSignal.any([time.signal, left]);
  const { ownerId, accountId, artifactKind, artifactId } = target;
  const sent = { ownerId, accountId, artifactKind, artifactId };
  const tally = emptyTally();
  for await (const { bytes, firstLine } of cutChunks(readWhileSent(body, { idleMsMax, signal }), LIMITS)) {
    if (firstLine > linesMax) throw tooManyLines(linesMax);
    const lines = { bytes, firstLine, target: sent, receivedAt: now() };
    addTally(tally, await untilAborted(checkLines(lines, signal), signal));
    await throttle();
  }
  return {
    dry_run: true,
    events_total: tally.eventsTotal,
    events_successfully_imported: tally.eventsImported,
    events_failed_to_import: tally.eventsFailed,
    error_log_sample: tally.errors,
    warning_log_sample: tally.warnings,
  };
}

function limitTime(durationMsMax: number): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const end = () => controller.abort(tookTooLong(durationMsMax));
  const timer = setTimeout(end, durationMsMax);
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

function tooManyLines(linesMax: number): Problem {
  const most = linesMax.toLocaleString("en-US");
  return new Problem("too-large", `A dry run takes at most ${most} lines: try the beginning of the body.`);
}

function tookTooLong(durationMsMax: number): Problem {
  return new Problem(
    "unavailable",
    `The dry run took longer than ${durationMsMax / 60_000} minutes: try the beginning of the body.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** The dry runs that this process reads at once, of all owners: each holds a chunk and a decompressor. */
const DRY_RUNS_MAX = 100;
const RETRY_WHEN_BUSY_SECONDS = 10;

/**
 * The dry runs of this process. A dry run costs as much as an import, so the same limit per owner applies, and per
 * account: one account may have any number of organizations.
 */
export class ActiveDryRuns {
  private readonly shares = new Shares({ perKey: ACTIVE_IMPORTS_MAX, inAll: DRY_RUNS_MAX });

  /** @throws Problem too-many-active-imports for this owner or account, `unavailable` for all */
  open({ ownerId, accountId }: { ownerId: string; accountId: string }): Disposable {
    const keys = [`owner ${ownerId}`, `account ${accountId}`];
    if (!this.shares.haveRoomFor(keys)) throw tooManyActiveImports();
    if (this.shares.haveRoom(keys)) return this.shares.take(keys);
    throw new Problem("unavailable", "Too many dry runs are under way; try again later.", {
      retryAfterSeconds: RETRY_WHEN_BUSY_SECONDS,
    });
  }
}
