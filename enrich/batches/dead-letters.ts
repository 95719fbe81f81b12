import { isBlank } from "../../schemas/records/import-line.js";
import type { ChunkOutcome, DeadLetter } from "../../schemas/records/chunk-outcome.js";
import { linesOf } from "../../schemas/records/chunk-codec.js";
import type { LogEntry } from "../../schemas/records/import-log.js";
import type { ChunkHead } from "../../schemas/records/raw-chunk.js";
import { excerpt } from "../lines/clean-text.js";
import { splitLines } from "../lines/split-lines.js";
import type { LoggedLine } from "../native/log-block.js";
import { isReadable, type BatchChunk } from "./batch-state.js";

export interface ReportedDeadLetter {
  deadLetter: DeadLetter;
  /** This and `logged` only where the chunk names an import. */
  outcome: ChunkOutcome | undefined;
  /** Holds the lines as they were sent, so that they are among the rejected ones of their import. */
  logged: LoggedLine | undefined;
}

const REASON_BYTES_MAX = 1_000;

/** The same chunk gives the same log entry, whatever the reason: a replay must not log it twice. */
export function deadLetterOf(chunk: BatchChunk, failure: Failure): ReportedDeadLetter {
  const head = headOf(chunk);
  const sent = linesAsSent(chunk);
  const lines = countLines(chunk, sent);
  const firstLine = Math.max(0, head?.firstLine ?? 0);
  const named = head?.source === "import" ? head : undefined;
  const deadLetter = {
    ...failure,
    offset: chunk.offset,
    importId: named?.importId,
    sequence: head?.sequence ?? 0,
    firstLine,
    lines: lines.total,
    record: chunk.value,
    reason: excerpt(
      head === undefined ? `${UNKNOWN_IMPORT} ${failure.reason}` : failure.reason,
      REASON_BYTES_MAX,
    ),
  };
  if (named === undefined) return { deadLetter, outcome: undefined, logged: undefined };
  const message = sentence(firstLine, lines.spanned);
  const entry = { ...ENTRY, human_friendly_message: message, line: firstLine };
  return {
    deadLetter,
    outcome: outcomeOf(named, lines.total, entry),
    logged: loggedLine(sent, named, message),
  };
}

type Failure = Pick<DeadLetter, "logPosition" | "partition" | "reason" | "tries">;

const UNKNOWN_IMPORT =
  "The record does not name its import. If an import stays in the status `importing`, abort it. Cause:";

function loggedLine(
  sent: Buffer | undefined,
  { importId, firstLine, receiptStamp }: ChunkHead,
  message: string,
): LoggedLine {
  return {
    importId,
    line: Math.max(0, firstLine),
    fault: { ...ENTRY, message },
    bytes: sent === undefined ? Buffer.alloc(0) : withoutLastNewline(sent),
    loggedAt: Math.max(0, receiptStamp),
  };
}

const ENTRY = { class: "error", type: "dead-letter" } as const;

function headOf(chunk: BatchChunk): ChunkHead | undefined {
  return isReadable(chunk) ? chunk.raw : chunk.head;
}

function sentence(firstLine: number, spanned: number): string {
  const last = firstLine + Math.max(1, spanned) - 1;
  const which = last === firstLine ? `Line ${firstLine} was` : `Lines ${firstLine} to ${last} were`;
  return `${which} not processed because of an internal error. The operator of this service can retry`;
}

function outcomeOf(head: ChunkHead, lines: number, entry: LogEntry): ChunkOutcome {
  const { importId, sequence, receiptStamp } = head;
  const counts = {
    eventsTotal: lines,
    eventsImported: 0,
    eventsFailed: lines,
    eventsWithWarnings: 0,
    linesSkipped: 0,
  };
  return { importId, sequence, receiptStamp, ...counts, errors: [entry], warnings: [], deadLetter: true };
}

const NEWLINE = 0x0a;

/** Undefined where the chunk, or what its lines were compressed to, is too damaged. */
function linesAsSent(chunk: BatchChunk): Buffer | undefined {
  try {
    return isReadable(chunk) ? linesOf(chunk.raw) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * `total` leaves out blank lines. Lines that cannot be decompressed count as one; in a chunk that cannot be
 * read, each newline counts as a line.
 */
function countLines(chunk: BatchChunk, sent: Buffer | undefined): { total: number; spanned: number } {
  if (isReadable(chunk) && sent === undefined) return { total: 1, spanned: 1 };
  if (sent === undefined) {
    const newlines = chunk.value.reduce((count, byte) => (byte === NEWLINE ? count + 1 : count), 0);
    return { total: newlines, spanned: newlines };
  }
  let total = 0;
  let spanned = 0;
  for (const line of splitLines(sent)) {
    spanned++;
    if (!isBlank(line)) total++;
  }
  return { total, spanned };
}

function withoutLastNewline(lines: Buffer): Buffer {
  return lines.at(-1) === NEWLINE ? lines.subarray(0, -1) : lines;
}
