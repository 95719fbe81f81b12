import { isUuid } from "../../schemas/formats.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { decodeLine, type Target } from "../lines/decode-line.js";
import { numberLines } from "../lines/split-lines.js";
import { type ArtifactCache, type ArtifactOf, keyOf, type LiveArtifacts } from "../lookups/artifact-cache.js";

export interface ArtifactLookups {
  artifacts: ArtifactCache;
  live: LiveArtifacts;
}

/** Live events of a chunk can name a thousand artifacts: they are looked up in one query, before the first line. */
export async function artifactsOf(
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
