import { NIL_UUID } from "../../schemas/formats.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import { linesOf } from "../../schemas/records/chunk-codec.js";
import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { OldestTime } from "../../schemas/event-retention.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { decodeLine } from "../lines/decode-line.js";
import type { LineFault } from "../lines/line-fault.js";
import { emptyTally, tallyLine, type LineTally } from "../lines/tally-lines.js";
import type { ReadEvent } from "../lines/read-event.js";
import { readLine } from "../lines/read-line.js";
import { numberLines, type NumberedLine } from "../lines/split-lines.js";
import type { EventBlock, EventOrigin } from "../native/event-block.js";
import type { LogBlock } from "../native/log-block.js";
import { steps } from "../steps.js";
import { EntriesNotKept, type LogBudget } from "./log-budget.js";
import { artifactsOf, type ArtifactLookups } from "./artifacts-of.js";

/** The blocks that collect the events and log entries of a batch, and the lookups of enrichment. */
export interface EnrichDependencies extends ArtifactLookups {
  events: EventBlock;
  logs: LogBlock;
  lookups: Lookups;
  /** The least `$time` of a line, by its time of receipt. */
  oldestTime?: OldestTime;
  /** Bounds the log of each import. */
  logBudget: LogBudget;
}

/**
 * Turns every line of a chunk into a row of `events` or entries of `logs`. The same chunk gives the same rows in the
 * same order each time: `$time` is limited by the time of receipt, not by the clock.
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
  for (const numbered of numberLines(lines, firstLine)) {
    const { line } = numbered;
    const decoded = decodeLine(numbered, chunk);
    let read: ReadEvent;
    if ("fault" in decoded) read = decoded;
    else {
      const found = artifactOf(decoded.target);
      // Awaiting every line would cost more than decoding it.
      const { artifact } = found instanceof Promise ? await found : found;
      read = readLine(decoded, artifact, { line, receivedAt, oldestTime, live });
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

/** Refused lines are logged as they were sent. */
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
