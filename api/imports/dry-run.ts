import { setImmediate as turn } from "node:timers/promises";
import { ArtifactCache, type ResolveArtifact } from "../../enrich/batches/artifact-cache.js";
import { enrichChunk } from "../../enrich/batches/enrich-chunk.js";
import { LiveArtifacts } from "../../enrich/batches/live-artifacts.js";
import { EventBlock } from "../../enrich/native/event-block.js";
import { LogBlock } from "../../enrich/native/log-block.js";
import { NIL_UUID } from "../../enrich/native/uuid-bytes.js";
import { cutChunks } from "../../ingest/import/cut-chunks.js";
import { readWhileSent } from "../../ingest/import/read-while-sent.js";
import { CHUNK_LIMITS, type ImportTarget } from "../../ingest/import/receive-import.js";
import {
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
  type Lookups,
} from "../../schemas/records/enriched-event.js";
import { LOG_SAMPLE_MAX, type LogEntry } from "../../schemas/records/import-log.js";
import type { EventImport } from "../../schemas/records/import-store.js";

export type DryRun = Pick<
  EventImport,
  | "events_total"
  | "events_successfully_imported"
  | "events_failed_to_import"
  | "error_log_sample"
  | "warning_log_sample"
> & { dry_run: true };

export interface DryRunDependencies {
  resolveArtifact: ResolveArtifact;
  /** Milliseconds since the epoch. */
  now: () => number;
  idleMsMax?: number | undefined;
}

/** Small: whatever else this process answers waits for the lines of one chunk. */
const LIMITS = { ...CHUNK_LIMITS, bytesTarget: 64 * 1024 };

/**
 * What an import of this body would be answered when it is done: the same validation, counts and samples, with
 * nothing stored. Holds one chunk at a time.
 */
export async function dryRun(
  body: AsyncIterable<Buffer>,
  target: Omit<ImportTarget, "importId">,
  { resolveArtifact, now, idleMsMax }: DryRunDependencies,
): Promise<DryRun> {
  const to = {
    events: new EventBlock(),
    log: new LogBlock(),
    artifacts: new ArtifactCache(resolveArtifact),
    live: new LiveArtifacts(async () => []),
    lookups: NOTHING,
  };
  const errors: LogEntry[] = [];
  const warnings: LogEntry[] = [];
  const counts = { events_total: 0, events_successfully_imported: 0, events_failed_to_import: 0 };
  const chunk = { source: "import", ...target, importId: NIL_UUID, sequence: 0, codec: "none" } as const;
  for await (const { bytes: lines, firstLine } of cutChunks(readWhileSent(body, { idleMsMax }), LIMITS)) {
    const outcome = await enrichChunk({ ...chunk, lines, firstLine, receiptStamp: now() }, to);
    to.events.clear();
    to.log.clear();
    await turn();
    counts.events_total += outcome.eventsTotal;
    counts.events_successfully_imported += outcome.eventsImported;
    counts.events_failed_to_import += outcome.eventsFailed;
    errors.push(...outcome.errors.slice(0, LOG_SAMPLE_MAX - errors.length));
    warnings.push(...outcome.warnings.slice(0, LOG_SAMPLE_MAX - warnings.length));
  }
  return { dry_run: true, ...counts, error_log_sample: errors, warning_log_sample: warnings };
}

/** Where an event came from does not decide whether its line is good. */
const NOTHING: Lookups = {
  clients: { of: () => UNKNOWN_CLIENT },
  places: { of: () => UNKNOWN_PLACE },
  networks: { of: () => UNKNOWN_NETWORK },
  ids: { origin: () => "", endpoint: () => "" },
};
