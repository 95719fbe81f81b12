import type { ArtifactKind } from "../../schemas/records/artifact.js";
import { isUuid } from "../../schemas/formats.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { describeValue } from "./clean-text.js";
import { error, type LineFault } from "./line-fault.js";
import type { LineFields } from "./line-fields.js";

/** The artifact that a line names or inherits from its import's path. Ids are lower case. */
export interface Target {
  kind: ArtifactKind;
  id: string;
}

/** The artifact on the path of an import. */
export type ImportPath = Pick<RawChunk, "artifactKind" | "artifactId">;

const MISSING = error("missing-artifact", "Neither $package nor $pixel names what the event belongs to");

const KEYS = [
  ["$package", "package"],
  ["$pixel", "pixel"],
  ["$tracking_pixel", "pixel"],
] as const;

/** The artifact of a line. The path and each key of the line that name one must name the same. */
export function targetOf(line: LineFields, { artifactKind, artifactId }: ImportPath): Target | LineFault {
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
  const name = `${kind === "package" ? "Package" : "Pixel"} ${id}`;
  return error("artifact-not-found", `${name} does not exist, or this import may not write to it`, idField);
}

function parseTarget(kind: ArtifactKind, value: unknown): Target | LineFault {
  if (typeof value === "string" && isUuid(value)) return { kind, id: value.toLowerCase() };
  return artifactNotFound({ kind, id: describeValue(value, 100) });
}
