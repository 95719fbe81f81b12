import { setImmediate as nextTurn } from "node:timers/promises";
import { decodeLine } from "../../enrich/lines/decode-line.js";
import type { ReadEvent } from "../../enrich/lines/read-event.js";
import { readLine } from "../../enrich/lines/read-line.js";
import { numberLines, type NumberedLine } from "../../enrich/lines/split-lines.js";
import { emptyTally, tallyLine } from "../../enrich/lines/tally-lines.js";
import {
  ArtifactCache,
  type ArtifactOf,
  type ResolveArtifact,
} from "../../enrich/lookups/artifacts/artifact-cache.js";
import { cutChunks } from "../../ingest/import/cut-chunks.js";
import { readWhileSent } from "../../ingest/import/read-while-sent.js";
import { CHUNK_LIMITS, type ImportTarget } from "../../ingest/import/receive-import.js";
import type { DryRun } from "../../schemas/records/import-store.js";

export interface DryRunDependencies {
  resolveArtifact: ResolveArtifact;
  /** Milliseconds since the epoch. */
  now: () => number;
  idleMsMax?: number | undefined;
}

/** Small chunks: each chunk blocks the other requests of this process while its lines are read. */
const LIMITS = { ...CHUNK_LIMITS, bytesTarget: 64 * 1024 };

/**
 * Answers the counts and samples that an import of this body would end with. Validates in the same way and stores
 * nothing. Holds one chunk at a time.
 */
export async function dryRun(
  body: AsyncIterable<Buffer>,
  target: Omit<ImportTarget, "importId">,
  { resolveArtifact, now, idleMsMax }: DryRunDependencies,
): Promise<DryRun> {
  const artifacts = new ArtifactCache(resolveArtifact);
  const tally = emptyTally();
  for await (const { bytes, firstLine } of cutChunks(readWhileSent(body, { idleMsMax }), LIMITS)) {
    const reading = { target, artifactOf: artifacts.forChunk(target), receivedAt: now() };
    for (const line of numberLines(bytes, firstLine))
      tallyLine(tally, line.line, await validate(line, reading));
    await nextTurn();
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

interface Validating {
  target: Omit<ImportTarget, "importId">;
  artifactOf: ArtifactOf;
  receivedAt: number;
}

async function validate(
  numbered: NumberedLine,
  { target, artifactOf, receivedAt }: Validating,
): Promise<ReadEvent> {
  const decoded = decodeLine(numbered, target);
  if ("fault" in decoded) return decoded;
  const { artifact } = await artifactOf(decoded.target);
  return readLine(decoded, artifact, { line: numbered.line, receivedAt });
}
