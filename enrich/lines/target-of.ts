import type { ArtifactKind } from "../../schemas/records/artifact.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { describeValue } from "./clean-text.js";
import { error, type LineFault, type LineObject } from "./decode-line.js";

/** The artifact that a line names or inherits from its import's path. Ids are lower case. */
export interface Target {
  kind: ArtifactKind;
  id: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MISSING = error("missing-artifact", "Neither $package nor $pixel names what the event belongs to");

const KEYS = [
  ["$package", "package"],
  ["$pixel", "pixel"],
  ["$tracking_pixel", "pixel"],
] as const;

/** Which artifact a line belongs to. Whatever names one, the path and each key of the line, must name the same. */
export function targetOf(line: LineObject, { artifactKind, artifactId }: RawChunk): Target | LineFault {
  let target: Target | undefined =
    artifactKind === "any" ? undefined : { kind: artifactKind, id: artifactId };
  for (const [key, kind] of KEYS) {
    const value = line[key];
    if (value === undefined || value === null) continue;
    const named = parseTarget(kind, value);
    if ("class" in named) return named;
    target ??= named;
    if (named.kind !== target.kind || named.id !== target.id) return artifactNotFound(named);
  }
  return target ?? MISSING;
}

export function artifactNotFound({ kind, id }: Target): LineFault {
  const idField = kind === "package" ? { packageId: id } : { pixelId: id };
  return error("artifact-not-found", `No ${kind} ${id} that this import may write to`, idField);
}

function parseTarget(kind: ArtifactKind, value: unknown): Target | LineFault {
  if (typeof value === "string" && UUID.test(value)) return { kind, id: value.toLowerCase() };
  return artifactNotFound({ kind, id: describeValue(value, 100) });
}
