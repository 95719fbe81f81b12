import { LRUCache } from "lru-cache";
import { NIL_UUID, isUuid } from "../../schemas/formats.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { linesOf } from "../../schemas/records/chunk-codec.js";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { OldestTime } from "../../schemas/event-retention.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { decodeLine, type Target } from "../lines/decode-line.js";
import { NO_EVENT } from "../lines/formats/line-format.js";
import type { LineFault } from "../lines/line-fault.js";
import { openDecoder } from "../lines/open-decoder.js";
import { emptyTally, tallyLine, type LineTally } from "../lines/tally-lines.js";
import { readEvent, type ReadEvent } from "../lines/read-event.js";
import { numberLines, type NumberedLine } from "../lines/split-lines.js";
import type { EventBlock, EventOrigin } from "../native/event-block.js";
import type { LogBlock } from "../native/log-block.js";
import { steps } from "../steps.js";
import { type ArtifactCache, type ArtifactOf, keyOf, type LiveArtifacts } from "../lookups/artifact-cache.js";

/** The blocks that collect the events and log entries of a batch, and the lookups of enrichment. */
export interface EnrichDependencies extends ArtifactLookups {
  events: EventBlock;
  logs: LogBlock;
  lookups: Lookups;
  /** The least `$time` of a line, by its time of receipt. */
  oldestTime?: OldestTime;
  logBudget: LogBudget;
}

/**
 * Every line becomes a row of `events` or entries of `logs`. The same chunk gives the same rows in the same
 * order: `$time` is limited by the time of receipt, not by the clock.
 */
export async function enrichChunk(chunk: RawChunk, to: EnrichDependencies): Promise<ChunkOutcome> {
  const { firstLine, receiptStamp: receivedAt } = chunk;
  const oldestTime = to.oldestTime?.(receivedAt) ?? 0;
  const live = chunk.source === "collect";
  const tally = emptyTally();
  const notKept = new EntriesNotKept();
  const origin = originOf(chunk);
  const lines = linesOf(chunk);
  const artifactOf = await artifactsOf(chunk, lines, to);
  const decode = openDecoder(chunk);
  const { places } = to.lookups;
  for (const numbered of numberLines(lines, firstLine)) {
    const { line } = numbered;
    const decoded = decode(numbered);
    if (decoded === NO_EVENT) {
      tally.linesSkipped++;
      continue;
    }
    let read: ReadEvent;
    if ("fault" in decoded) read = decoded;
    else {
      const found = artifactOf(decoded.target);
      // Awaiting every line would cost more than decoding it.
      const { artifact } = found instanceof Promise ? await found : found;
      read = readEvent(decoded, artifact, { line, receivedAt, oldestTime, live, places });
    }
    tallyLine(tally, line, read);
    if ("event" in read) {
      for (const step of steps) step(read.event, to.lookups);
      to.events.add(read.event, origin);
    }
    if (!live) logLine(numbered, read, { chunk, notKept, ...to });
  }
  notKept.log(to.logs, { importId: chunk.importId, line: firstLine, loggedAt: receivedAt });
  return outcomeOf(chunk, tally);
}

function originOf({ source, importId, receiptStamp, firstLine }: RawChunk): EventOrigin {
  const stored = source === "import" ? importId : NIL_UUID;
  return { importId: stored, keyPrefix: importId, receiptStamp, firstLine };
}

const NO_BYTES = Buffer.alloc(0);

interface LineLog extends Pick<EnrichDependencies, "logs" | "logBudget"> {
  chunk: RawChunk;
  notKept: EntriesNotKept;
}

function logLine(
  { bytes, line }: NumberedLine,
  read: ReadEvent,
  { chunk, logs, logBudget, notKept }: LineLog,
): void {
  const { importId, receiptStamp: loggedAt } = chunk;
  const add = (fault: LineFault, sent: Buffer) => {
    if (logBudget.take(importId, sent.length)) logs.add({ importId, line, fault, bytes: sent, loggedAt });
    else notKept.add(fault);
  };
  if ("fault" in read) add(read.fault, bytes);
  else for (const fault of read.warnings) add(fault, NO_BYTES);
}

/** Live events have no import to show samples in. */
function outcomeOf(chunk: RawChunk, tally: LineTally): ChunkOutcome {
  const { source, importId, sequence, receiptStamp } = chunk;
  const live =
    source === "collect" && ({ live: true, errors: [], warnings: [] } satisfies Partial<ChunkOutcome>);
  return { importId, sequence, receiptStamp, ...tally, ...live };
}

interface ArtifactLookups {
  artifacts: ArtifactCache;
  live: LiveArtifacts;
}

/** Live events of a chunk can name a thousand artifacts: they are looked up in one query, before the first line. */
async function artifactsOf(
  chunk: RawChunk,
  lines: Buffer,
  { artifacts, live }: ArtifactLookups,
): Promise<ArtifactOf> {
  if (chunk.source === "collect") {
    const found = await live.among(targetsIn(lines, chunk));
    return (target) => ({ artifact: found.get(keyOf(target)) });
  }
  return artifacts.forChunk(chunk);
}

/** Decodes each line once more, which costs less than one query after the other. */
function targetsIn(lines: Buffer, chunk: RawChunk): Target[] {
  const targets: Target[] = [];
  for (const numbered of numberLines(lines, chunk.firstLine)) {
    const decoded = decodeLine(numbered, chunk);
    if ("target" in decoded && isUuid(decoded.target.id)) targets.push(decoded.target);
  }
  return targets;
}

/** The log entries that one worker keeps of one import: three bytes of a body can make one. */
export const LOG_LIMITS = { entriesMax: 1_000_000, bytesMax: 512 * 1024 * 1024 };
const IMPORTS_MAX = 1_000;

/** Each worker counts by itself and forgets at its end, so an import with several workers may keep more. */
export class LogBudget {
  private readonly used = new LRUCache<string, { entries: number; bytes: number }>({ max: IMPORTS_MAX });

  constructor(private readonly limits = LOG_LIMITS) {}

  /** Whether one more entry of the import is kept. */
  take(importId: string, bytes: number): boolean {
    const used = this.used.get(importId) ?? this.begin(importId);
    if (used.entries >= this.limits.entriesMax || used.bytes >= this.limits.bytesMax) return false;
    used.entries += 1;
    used.bytes += bytes;
    return true;
  }

  private begin(importId: string): { entries: number; bytes: number } {
    const none = { entries: 0, bytes: 0 };
    this.used.set(importId, none);
    return none;
  }
}

class EntriesNotKept {
  private readonly counts = new Map<string, number>();

  add({ class: faultClass, type }: LineFault): void {
    const key = `${faultClass} ${type}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  /** One row for each class and type, which `import-log.sql` and `import-faults.sql` read: the count is its text. */
  log(logs: LogBlock, chunk: { importId: string; line: number; loggedAt: number }): void {
    for (const [message, count] of this.counts) {
      const fault = { class: "info", type: "entries-not-kept", message } as const;
      logs.add({ ...chunk, fault, bytes: Buffer.from(String(count)) });
    }
  }
}
