import { setImmediate as nextTurn } from "node:timers/promises";
import { NO_EVENT } from "../../../enrich/lines/formats/line-format.js";
import { openDecoder } from "../../../enrich/lines/open-decoder.js";
import { readEvent } from "../../../enrich/lines/read-event.js";
import { numberLines } from "../../../enrich/lines/split-lines.js";
import { type LineTally, addTally, emptyTally, tallyLine } from "../../../enrich/lines/tally-lines.js";
import { ArtifactCache, type ResolveArtifact } from "../../../enrich/lookups/artifact-cache.js";
import { cutFormat } from "../../../ingest/import/cut-format.js";
import { readWhileSent } from "../../../ingest/import/read-while-sent.js";
import { CHUNK_LIMITS, type ImportTarget } from "../../../ingest/import/receive-import.js";
import { Shares } from "../../../schemas/async/limit-concurrency.js";
import { limitTime } from "../../../schemas/async/limit-time.js";
import { untilAborted } from "../../../schemas/async/pause.js";
import { NO_OLDEST_TIME, type OldestTime } from "../../../schemas/event-retention.js";
import { Problem } from "../../../schemas/problem.js";
import { type DryRun, EVENT_SAMPLE_MAX, type EventSample } from "../../../schemas/records/import-store.js";
import { tooManyActiveImports } from "./imports.js";
import { sampleEvent } from "./sample-event.js";
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
  using limit = limitTime(durationMsMax, { outer: left, reason: () => tookTooLong(durationMsMax) });
  const { signal } = limit;
  const { ownerId, accountId, artifactKind, artifactId, format, path } = target;
  const sent = { ownerId, accountId, artifactKind, artifactId, format, path };
  const tally = emptyTally();
  const events: EventSample[] = [];
  const chunks = cutFormat(readWhileSent(body, { idleMsMax, signal }), { ...LIMITS, format });
  for await (const { bytes, firstLine, header } of chunks) {
    if (firstLine > linesMax) throw tooManyLines(linesMax);
    const lines = { bytes, firstLine, header, target: sent, receivedAt: now() };
    const checked = await untilAborted(checkLines(lines, signal), signal);
    addTally(tally, checked);
    events.push(...checked.events.slice(0, EVENT_SAMPLE_MAX - events.length));
    await throttle();
  }
  return {
    dry_run: true,
    events_total: tally.eventsTotal,
    events_successfully_imported: tally.eventsImported,
    events_failed_to_import: tally.eventsFailed,
    events_with_warnings: tally.eventsWithWarnings,
    error_log_sample: tally.errors,
    warning_log_sample: tally.warnings,
    lines_skipped: tally.linesSkipped,
    event_sample: events,
  };
}

function tooManyLines(linesMax: number): Problem {
  const most = linesMax.toLocaleString("en-US");
  return new Problem(
    "too-large",
    `A dry run accepts at most ${most} lines. Send only the beginning of the body.`,
  );
}

function tookTooLong(durationMsMax: number): Problem {
  return new Problem(
    "unavailable",
    `The dry run took longer than ${durationMsMax / 60_000} minutes. Send only the beginning of the body.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Of all owners: each holds a chunk and a decompressor. */
const DRY_RUNS_MAX = 100;
const RETRY_WHEN_BUSY_SECONDS = 10;

/** Costs as much as an import: limited per owner, and per account, which may have any number of organizations. */
export class ActiveDryRuns {
  private readonly shares = new Shares({ perKey: ACTIVE_IMPORTS_MAX, inAll: DRY_RUNS_MAX });

  /** @throws Problem too-many-active-imports for this owner or account, `unavailable` for all */
  open({ ownerId, accountId }: { ownerId: string; accountId: string }): Disposable {
    const keys = [`owner ${ownerId}`, `account ${accountId}`];
    if (!this.shares.haveRoomFor(keys)) throw tooManyActiveImports();
    if (this.shares.haveRoom(keys)) return this.shares.take(keys);
    throw new Problem("unavailable", "Too many dry runs are running. Try again later.", {
      retryAfterSeconds: RETRY_WHEN_BUSY_SECONDS,
    });
  }
}

export interface LinesToCheck {
  bytes: Uint8Array;
  /** 1-based, blank lines counted. */
  firstLine: number;
  /** As of a chunk of the event log. */
  header: string;
  target: Omit<ImportTarget, "importId">;
  /** Milliseconds since the epoch. */
  receivedAt: number;
}

export interface CheckedLines extends LineTally {
  /** The first of them. */
  events: EventSample[];
}

/** Counts the lines that an import would take and refuse. A signal ends the wait for it. */
export type CheckLines = (lines: LinesToCheck, signal: AbortSignal) => Promise<CheckedLines>;

/** Checks lines on the calling thread, as enrichment does. */
export function openLineCheck(
  resolveArtifact: ResolveArtifact,
  oldestTimeAt: OldestTime = NO_OLDEST_TIME,
): CheckLines {
  const artifacts = new ArtifactCache(resolveArtifact);
  return async ({ bytes, firstLine, header, target, receivedAt }) => {
    const artifactOf = artifacts.forChunk(target);
    const decode = openDecoder({ ...target, header });
    const tally = emptyTally();
    const events: EventSample[] = [];
    const oldestTime = oldestTimeAt(receivedAt);
    for (const numbered of numberLines(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
      firstLine,
    )) {
      const { line } = numbered;
      const decoded = decode(numbered);
      if (decoded === NO_EVENT) {
        tally.linesSkipped++;
        continue;
      }
      if ("fault" in decoded) {
        tallyLine(tally, line, decoded);
        continue;
      }
      const found = artifactOf(decoded.target);
      // Awaiting every line would cost more than decoding it.
      const { artifact } = found instanceof Promise ? await found : found;
      const read = readEvent(decoded, artifact, { line, receivedAt, oldestTime });
      tallyLine(tally, line, read);
      if ("event" in read && events.length < EVENT_SAMPLE_MAX) events.push(sampleEvent(read.event));
    }
    return { ...tally, events };
  };
}
