import { decodeLine } from "../../enrich/lines/decode-line.js";
import { readEvent } from "../../enrich/lines/read-event.js";
import { numberLines } from "../../enrich/lines/split-lines.js";
import { emptyTally, tallyLine, type LineTally } from "../../enrich/lines/tally-lines.js";
import { ArtifactCache, type ResolveArtifact } from "../../enrich/lookups/artifact-cache.js";
import { NO_OLDEST_TIME, type OldestTime } from "../../schemas/event-retention.js";
import type { ImportTarget } from "../../ingest/import/receive-import.js";

/** Whole lines of a body that is checked and not imported. */
export interface LinesToCheck {
  bytes: Uint8Array;
  /** 1-based, blank lines counted. */
  firstLine: number;
  target: Omit<ImportTarget, "importId">;
  /** Milliseconds since the epoch. */
  receivedAt: number;
}

/** Counts the lines that an import would take and refuse. A signal ends the wait for it. */
export type CheckLines = (lines: LinesToCheck, signal: AbortSignal) => Promise<LineTally>;

/** Checks lines on the calling thread, as enrichment does. */
export function openLineCheck(
  resolveArtifact: ResolveArtifact,
  oldestTimeAt: OldestTime = NO_OLDEST_TIME,
): CheckLines {
  const artifacts = new ArtifactCache(resolveArtifact);
  return async ({ bytes, firstLine, target, receivedAt }) => {
    const artifactOf = artifacts.forChunk(target);
    const tally = emptyTally();
    const oldestTime = oldestTimeAt(receivedAt);
    for (const numbered of numberLines(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
      firstLine,
    )) {
      const { line } = numbered;
      const decoded = decodeLine(numbered, target);
      if ("fault" in decoded) {
        tallyLine(tally, line, decoded);
        continue;
      }
      const found = artifactOf(decoded.target);
      // Awaiting every line would cost more than decoding it.
      const { artifact } = found instanceof Promise ? await found : found;
      tallyLine(tally, line, readEvent(decoded, artifact, { line, receivedAt, oldestTime }));
    }
    return tally;
  };
}
