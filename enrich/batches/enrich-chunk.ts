import type { Artifact } from "../../schemas/records/artifact.js";
import type { ChunkOutcome } from "../../schemas/records/chunk-outcome.js";
import type { EnrichedEvent, Lookups } from "../../schemas/records/enriched-event.js";
import { LOG_SAMPLE_MAX, type LogEntry } from "../../schemas/records/import-log.js";
import { linesOf } from "../../schemas/records/chunk-codec.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import type { ArtifactCache } from "./artifact-cache.js";
import { decodeLine, isBlank, isRefused, splitLines, type LineFault } from "../lines/decode-line.js";
import { keyOf, type LiveArtifacts } from "./live-artifacts.js";
import type { EventBlock, EventOrigin } from "../native/event-block.js";
import type { LogBlock } from "../native/log-block.js";
import { NIL_UUID } from "../native/uuid-bytes.js";
import { readEvent, type ReadEvent } from "../lines/read-event.js";
import { steps } from "../steps/index.js";
import { artifactNotFound, targetOf, type Target } from "../lines/target-of.js";

/** Where the events and log entries of a batch are collected, and what enrichment needs to know. */
export interface EnrichDependencies {
  events: EventBlock;
  log: LogBlock;
  artifacts: ArtifactCache;
  live: LiveArtifacts;
  lookups: Lookups;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Every line of a chunk to a row of `events` or an entry of `log`. The same chunk gives the same rows in the same
 * order each time: the time that limits `$time` is that of receipt.
 */
export async function enrichChunk(chunk: RawChunk, to: EnrichDependencies): Promise<ChunkOutcome> {
  const outcome = emptyOutcome(chunk);
  const origin = originOf(chunk);
  const lines = linesOf(chunk);
  const live = chunk.source === "collect" ? await to.live.among(targetsIn(lines, chunk)) : undefined;
  let line = chunk.firstLine - 1;
  for (const bytes of splitLines(lines)) {
    line++;
    if (isBlank(bytes)) continue;
    const text = line === 1 ? withoutByteOrderMark(bytes) : bytes;
    outcome.eventsTotal++;
    // Waiting a tick for every line would cost more than decoding it.
    const reading = readLine(text, { chunk, line, to, live });
    const read = reading instanceof Promise ? await reading : reading;
    if ("fault" in read) {
      outcome.eventsFailed++;
      logFault(read.fault, { chunk, line, bytes, to, outcome });
      continue;
    }
    outcome.eventsImported++;
    enrich(read.event, to.lookups);
    to.events.add(read.event, origin);
    for (const fault of read.warnings) logFault(fault, { chunk, line, bytes: NO_BYTES, to, outcome });
  }
  return outcome;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Some systems begin every UTF-8 file with it. */
function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
}

function enrich(event: EnrichedEvent, lookups: Lookups): void {
  for (const step of steps) step(event, lookups);
}

function emptyOutcome({ source, importId, sequence, receiptStamp }: RawChunk): ChunkOutcome {
  const counts = { eventsTotal: 0, eventsImported: 0, eventsFailed: 0 };
  const live = source === "collect" ? ({ live: true } as const) : {};
  return { importId, sequence, receiptStamp, ...counts, errors: [], warnings: [], ...live };
}

/** A line is decoded once more for it, which costs less than asking for one artifact after the other. */
function targetsIn(lines: Buffer, chunk: RawChunk): Target[] {
  const targets: Target[] = [];
  for (const bytes of splitLines(lines)) {
    const object = isBlank(bytes) ? undefined : decodeLine(bytes);
    const target = object === undefined || isRefused(object) ? undefined : targetOf(object, chunk);
    if (target !== undefined && !("class" in target)) targets.push(target);
  }
  return targets;
}

function originOf({ source, importId, receiptStamp, firstLine }: RawChunk): EventOrigin {
  const stored = source === "import" ? importId : NIL_UUID;
  return { importId: stored, keyPrefix: importId, receiptStamp, firstLine };
}

interface Line {
  chunk: RawChunk;
  line: number;
  to: EnrichDependencies;
}

interface Reading extends Line {
  /** Of a chunk of live events: the artifacts that they name. */
  live: ReadonlyMap<string, Artifact> | undefined;
}

function readLine(bytes: Buffer, { chunk, line, to, live }: Reading): ReadEvent | Promise<ReadEvent> {
  const object = decodeLine(bytes);
  if (isRefused(object)) return object;
  const target = targetOf(object, chunk);
  if ("class" in target) return { fault: target };
  const { accountId, ownerId, receiptStamp } = chunk;
  const read = ({ artifact }: { artifact: Artifact | undefined }): ReadEvent =>
    artifact === undefined
      ? { fault: artifactNotFound(target) }
      : readEvent(object, { artifact, line, receivedAt: receiptStamp, live: live !== undefined });
  if (live !== undefined) return read({ artifact: live.get(keyOf(target)) });
  const answer = to.artifacts.of({ accountId, ownerId, ...target });
  return answer instanceof Promise ? answer.then(read) : read(answer);
}

interface Logging extends Line {
  bytes: Buffer;
  outcome: ChunkOutcome;
}

function logFault(fault: LineFault, { chunk, line, bytes, to, outcome }: Logging): void {
  if (chunk.source !== "import") return;
  to.log.add({ importId: chunk.importId, line, fault, bytes, loggedAt: chunk.receiptStamp });
  const sample = fault.class === "error" ? outcome.errors : outcome.warnings;
  if (sample.length < LOG_SAMPLE_MAX) sample.push(logEntry(fault, line));
}

function logEntry(
  { class: faultClass, type, message, packageId, pixelId }: LineFault,
  line: number,
): LogEntry {
  return {
    class: faultClass,
    type,
    human_friendly_message: message,
    line,
    ...(packageId === undefined ? {} : { package_id: packageId }),
    ...(pixelId === undefined ? {} : { pixel_id: pixelId }),
  };
}
