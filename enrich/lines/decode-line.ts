import { LINE_BYTES_MAX, lineLength, withoutByteOrderMark } from "../../schemas/records/import-line.js";
import { error, type LineFault } from "./line-fault.js";
import { isObject, isUuid } from "../../schemas/formats.js";
import type { NumberedLine } from "./split-lines.js";
import type { ArtifactKind } from "../../schemas/records/artifact.js";
import type { RawChunk } from "../../schemas/records/raw-chunk.js";
import { describeValue } from "./clean-text.js";
import { markNumbers, mayRound } from "./exact-numbers.js";

/** A line whose JSON is an object, and the artifact that it names; or the fault that refuses it. */
export type DecodedLine = { fields: LineFields; target: Target } | { fault: LineFault };

const NOT_AN_OBJECT = { fault: error("failed-to-decode", "Not a valid JSON object") };
export const TOO_LONG = {
  fault: error(
    "line-too-long",
    `The line is longer than ${LINE_BYTES_MAX} bytes. The log contains only its beginning`,
  ),
};

/** Never throws. The artifact is not looked up yet: it may not exist, or be another owner's. */
export function decodeLine({ bytes, line }: NumberedLine, path: ImportPath): DecodedLine {
  if (lineLength(bytes) > LINE_BYTES_MAX) return TOO_LONG;
  const text = (line === 1 ? withoutByteOrderMark(bytes) : bytes).toString("utf8");
  const object = parseObject(text);
  if (object === undefined) return NOT_AN_OBJECT;
  return withTarget(exactFields(fieldsOf(object), text), path);
}

export function withTarget(fields: LineFields, path: ImportPath): DecodedLine {
  const target = targetOf(fields, path);
  return "class" in target ? { fault: target } : { fields, target };
}

/** The object of a line that may begin its file; undefined for any other text. */
export function decodeObject(bytes: Buffer): LineObject | undefined {
  return parseObject(withoutByteOrderMark(bytes).toString("utf8"));
}

/** The line again, with numbers as they were sent, where one of them would change. */
function exactFields(fields: LineFields, text: string): LineFields {
  const marked = mayRound(fields, text) ? markNumbers(text) : undefined;
  return marked === undefined ? fields : fieldsOf(JSON.parse(marked) as LineObject);
}

export function parseObject(text: string): LineObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export type LineObject = Record<string, unknown>;

/**
 * The keys that every event may have by name, and all others in the order in which they were sent. So all
 * lines have one shape: reading objects of hundreds of shapes took as long as parsing them.
 */
export class LineFields {
  $time: unknown = undefined;
  $unique_id: unknown = undefined;
  $package: unknown = undefined;
  $pixel: unknown = undefined;
  $tracking_pixel: unknown = undefined;
  $remote_address: unknown = undefined;
  $user_agent: unknown = undefined;
  $referrer: unknown = undefined;
  $referer: unknown = undefined;
  $version: unknown = undefined;
  $type: unknown = undefined;
  $domain: unknown = undefined;
  $headers: unknown = undefined;
  $country: unknown = undefined;
  /** Custom variables, and `$` keys that are not among the above. */
  readonly otherNames: string[] = [];
  readonly otherValues: unknown[] = [];
}

export function fieldsOf(object: LineObject): LineFields {
  const fields = new LineFields();
  for (const key in object) {
    const value = object[key];
    if (isNamed(key)) fields[key] = value;
    else {
      fields.otherNames.push(key);
      fields.otherValues.push(value);
    }
  }
  return fields;
}

export function addVariable({ otherNames, otherValues }: LineFields, name: string, value: unknown): void {
  otherNames.push(name);
  otherValues.push(value);
}

export type NamedKey = Extract<keyof LineFields, `$${string}`>;

const NAMED: ReadonlySet<string> = new Set(Object.keys(new LineFields()).filter((key) => key[0] === "$"));

export function isNamed(key: string): key is NamedKey {
  return NAMED.has(key);
}

/** The artifact that a line names or inherits from its import's path. */
export interface Target {
  kind: ArtifactKind;
  /** A UUID in lower case, or the name that the line gives. */
  id: string;
  /** The name that the line gives to the artifact on the path, which must have it. */
  called?: string;
}

export type ImportPath = Pick<RawChunk, "artifactKind" | "artifactId">;

const MISSING = error("missing-artifact", "$package or $pixel is required");

const BOTH = error("invalid-value", "$package and $pixel cannot be combined");
const TWO_PIXELS = error("invalid-value", "$pixel and $tracking_pixel name different pixels");

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
    ? "does not exist, or this import has no permission to write to it"
    : `was not found, or several ${kind}s have this name. Use its id`;
  return error("artifact-not-found", `${kind === "package" ? "Package" : "Pixel"} ${id} ${why}`, idField);
}

const NAME_LENGTH_MAX = 256;

function parseTarget(kind: ArtifactKind, value: unknown): Target | LineFault {
  if (typeof value !== "string" || value === "" || value.length > NAME_LENGTH_MAX)
    return artifactNotFound({ kind, id: value });
  return { kind, id: isUuid(value) ? value.toLowerCase() : value };
}
