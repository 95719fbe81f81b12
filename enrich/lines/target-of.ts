import type { ArtifactKind } from "../../schemas/records/artifact.js";
import { isUuid } from "../../schemas/formats.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { describeValue } from "./clean-text.js";
import { error, type LineFault } from "./line-fault.js";
import type { LineFields } from "./line-fields.js";

/** The artifact that a line names or inherits from its import's path. */
export interface Target {
  kind: ArtifactKind;
  /** A UUID in lower case, or the name that the line gives. */
  id: string;
  /** The name that the line gives to the artifact on the path, which must have it. */
  called?: string;
}

/** The artifact on the path of an import. */
export type ImportPath = Pick<RawChunk, "artifactKind" | "artifactId">;

const MISSING = error("missing-artifact", "Neither $package nor $pixel names what the event belongs to");

const BOTH = error(
  "invalid-value",
  "A line names a package or a pixel, not both: it has $package and $pixel",
);
const TWO_PIXELS = error("invalid-value", "$pixel and $tracking_pixel name two pixels");

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
    if (named.kind === target.kind && named.id === target.id) continue;
    if (named.kind !== target.kind || !mayBeCalled(target, named.id))
      return namesTwo(line) ?? artifactNotFound(named);
    target = { ...target, called: named.id };
  }
  return target ?? MISSING;
}

/** Whether an artifact with an id may have the name: a line says it once, by id or by name. */
function mayBeCalled({ id, called = id }: Target, name: string): boolean {
  return isUuid(id) && !isUuid(name) && (called === id || called === name);
}

function namesTwo({ $package, $pixel, $tracking_pixel: other }: LineFields): LineFault | undefined {
  const isPixel = isSet($pixel) || isSet(other);
  if (isSet($package) && isPixel) return BOTH;
  return isSet($pixel) && isSet(other) && $pixel !== other ? TWO_PIXELS : undefined;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The value is that of the line, whatever it is. */
export function artifactNotFound({ kind, id: value }: { kind: ArtifactKind; id: unknown }): LineFault {
  const id = describeValue(value, 100);
  const idField = kind === "package" ? { packageId: id } : { pixelId: id };
  const why = isUuid(id)
    ? "does not exist, or this import may not write to it"
    : `was not found, or several ${kind}s have this name: use the id instead`;
  return error("artifact-not-found", `${kind === "package" ? "Package" : "Pixel"} ${id} ${why}`, idField);
}

const NAME_LENGTH_MAX = 256;

function parseTarget(kind: ArtifactKind, value: unknown): Target | LineFault {
  if (typeof value !== "string" || value === "" || value.length > NAME_LENGTH_MAX)
    return artifactNotFound({ kind, id: value });
  return { kind, id: isUuid(value) ? value.toLowerCase() : value };
}
