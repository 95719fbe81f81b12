import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { dryRun } from "../../../../api/imports/dry-run.js";
import { enrichChunk } from "../../../../enrich/batches/enrich-chunk.js";
import { ArtifactCache, type ResolveArtifact } from "../../../../enrich/lookups/artifacts/artifact-cache.js";
import { LiveArtifacts } from "../../../../enrich/lookups/artifacts/live-artifacts.js";
import { EventBlock } from "../../../../enrich/native/event-block.js";
import { LogBlock } from "../../../../enrich/native/log-block.js";
import { chunkOf, dockerPackage, PIXEL_ID, RECEIVED_AT, tinyLookups } from "../../enrich/lines/chunk-of.js";

const LINES = [
  '{"$time":1,"channel":"beta"}',
  `{"$time":1,"$package":"${dockerPackage.id}"}`,
  `{"$time":1,"$pixel":"${PIXEL_ID}"}`,
  '{"$time":1,"$remote_address":"nowhere","$own":1}',
  "",
  " \r",
  "{}",
  "nonsense",
  "[]",
  "\ufeff{}",
];

const resolveArtifact: ResolveArtifact = async ({ kind, id }) =>
  kind === "package" && id === dockerPackage.id ? dockerPackage : undefined;

test.each(["package", "any"] as const)(
  "a dry run answers what an import of the same lines ends with (path of %s)",
  async (artifactKind) => {
    const path = { artifactKind, artifactId: artifactKind === "any" ? "" : dockerPackage.id };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...LINES), { maxLength: 40 }), async (lines) => {
        const body = Buffer.from(lines.join("\n"));
        const chunk = chunkOf(body, path);
        const outcome = await enrichChunk(chunk, {
          events: new EventBlock(),
          logs: new LogBlock(),
          artifacts: new ArtifactCache(resolveArtifact),
          live: new LiveArtifacts(async () => []),
          lookups: tinyLookups,
        });
        const answer = await dryRun(Readable.from([body]), chunk, {
          resolveArtifact,
          now: () => RECEIVED_AT,
        });
        expect(answer).toEqual({
          dry_run: true,
          events_total: outcome.eventsTotal,
          events_successfully_imported: outcome.eventsImported,
          events_failed_to_import: outcome.eventsFailed,
          error_log_sample: outcome.errors,
          warning_log_sample: outcome.warnings,
        });
      }),
      { numRuns: 30 },
    );
  },
);
