import type { LibraryType } from "../../../schemas/records/artifact.js";
import type { LogType } from "../../../schemas/records/import-log.js";
import { isIPv4, isIPv6 } from "node:net";

/** A package or pixel that the importer may import into. */
export interface KnownArtifact {
  kind: "package" | "pixel";
  id: string;
  libraryType: LibraryType | "";
}

interface LineContext {
  /** The artifact that the path names, or undefined on the multi-artifact path. */
  target: string | undefined;
  artifacts: readonly KnownArtifact[];
  /** Time of receipt, milliseconds since the epoch. */
  receivedAt: number;
}

/** The event that a line counts as. `key` is its unique id within the artifact, undefined where it has none. */
export interface CountedEvent {
  artifact: KnownArtifact;
  key: string | undefined;
  time: number;
  version: string;
  userAgent: string;
  address: string;
  variables: Map<string, string>;
}

interface Finding {
  class: "error" | "warning";
  type: LogType;
}

/** Reads one line by the rules of the import, slowly and plainly: either an error, or an event with its warnings. */
export function recountLine(
  line: Buffer,
  context: LineContext,
): { event?: CountedEvent; findings: Finding[] } {
  const refuse = (type: LogType) => ({ findings: [{ class: "error" as const, type }] });
  if (line.length > 1_048_576) return refuse("line-too-long");
  const fields = decode(line);
  if (fields === undefined) return refuse("failed-to-decode");
  const artifact = artifactOf(fields, context);
  if (typeof artifact === "string") return refuse(artifact);
  if (fields.$time === undefined || fields.$time === null) return refuse("missing-time");
  const time = timeOf(fields.$time, context.receivedAt);
  if (time === undefined) return refuse("invalid-time");
  if (hasInvalidValue(fields)) return refuse("invalid-value");
  const findings: Finding[] = [];
  const warn = (type: LogType) => findings.push({ class: "warning", type });
  Object.keys(fields)
    .filter((key) => key.startsWith("$") && !KEYS.has(key))
    .forEach(() => warn("unknown-property"));
  const event = {
    artifact,
    key: uniqueKey(fields.$unique_id),
    time,
    version: clean(textOf(fields.$version)),
    userAgent: shorten(clean(textOf(fields.$user_agent) || headerOf(fields.$headers, "user-agent")), 2048),
    address: addressOf(fields.$remote_address, () => warn("invalid-remote-address")),
    variables: variablesOf(fields, () => warn("invalid-value")),
  };
  return { event, findings };
}

type Fields = Record<string, unknown>;

const KEYS = new Set(
  (
    "$time $unique_id $package $pixel $tracking_pixel $remote_address $user_agent $referrer $referer " +
    "$version $type $domain $headers $country"
  ).split(" "),
);

/** Numbers of variables and of the unique id are texts that begin so: they count as they were sent. */
const NUMBER = "\0#";

function decode(line: Buffer): Fields | undefined {
  try {
    const text = line.toString();
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
    const exact = JSON.parse(text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, markNumber)) as Fields;
    const asSent = Object.entries(exact).filter(([key]) => !key.startsWith("$") || key === "$unique_id");
    return { ...value, ...Object.fromEntries(asSent) };
  } catch {
    return undefined;
  }
}

function markNumber(token: string): string {
  return token.startsWith('"') ? token : JSON.stringify(NUMBER + token);
}

function artifactOf(fields: Fields, { target, artifacts }: LineContext): KnownArtifact | LogType {
  const named = [
    { kind: "package", id: fields.$package },
    { kind: "pixel", id: fields.$pixel },
    { kind: "pixel", id: fields.$tracking_pixel },
  ].filter(({ id }) => id !== undefined && id !== null);
  if (named.length === 0 && target === undefined) return "missing-artifact";
  const wanted = named.length > 0 ? named : [{ kind: undefined, id: target }];
  const found = wanted.map(({ kind, id }) =>
    artifacts.find(
      (known) =>
        (kind === undefined || known.kind === kind) &&
        typeof id === "string" &&
        known.id.toLowerCase() === id.toLowerCase() &&
        (target === undefined || target.toLowerCase() === id.toLowerCase()),
    ),
  );
  const [first] = found;
  return first !== undefined && found.every((artifact) => artifact === first) ? first : "artifact-not-found";
}

function hasInvalidValue(fields: Fields): boolean {
  const texts = [
    fields.$user_agent,
    fields.$referrer,
    fields.$referer,
    fields.$version,
    fields.$type,
    fields.$domain,
  ];
  const short = [fields.$version, fields.$type, fields.$domain];
  return (
    !isUniqueId(fields.$unique_id) ||
    texts.some((value) => value !== undefined && value !== null && typeof value !== "string") ||
    short.some((value) => Buffer.byteLength(textOf(value)) > 256) ||
    !areHeaders(fields.$headers)
  );
}

function isUniqueId(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "string") return false;
  if (value.startsWith(NUMBER)) return /^-?\d+$/.test(uniqueKey(value) ?? "");
  return value.length > 0 && Buffer.byteLength(value) <= 256;
}

function areHeaders(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (!Array.isArray(value)) return false;
  return value.every((header: Fields | null) => {
    return typeof header === "object" && typeof header?.name === "string" && typeof header.value === "string";
  });
}

function uniqueKey(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (!value.startsWith(NUMBER)) return value;
  const sent = value.slice(NUMBER.length);
  if (/^-?[1-9]\d*$/.test(sent)) return sent;
  return Number.isSafeInteger(Number(sent)) ? String(Number(sent)) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function headerOf(headers: unknown, name: string): string {
  const list = (headers ?? []) as { name: string; value: string }[];
  return list.find((header) => header.name.toLowerCase() === name && header.value !== "")?.value ?? "";
}

/** Line ends and NUL become spaces; half a surrogate pair becomes U+FFFD, as encoding to UTF-8 does anyway. */
function clean(text: string): string {
  return Buffer.from(text).toString().replaceAll("\r", " ").replaceAll("\n", " ").replaceAll("\0", " ");
}

function shorten(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  let kept = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) return kept;
    kept += character;
  }
  return kept;
}

function addressOf(value: unknown, warn: () => void): string {
  if (value === undefined || value === null || value === "") return "";
  const address = typeof value === "string" ? canonicalAddress(value) : "";
  if (address === "") warn();
  return address;
}

function variablesOf(fields: Fields, warn: () => void): Map<string, string> {
  const custom = Object.entries(fields).filter(([key]) => !key.startsWith("$"));
  const flat = custom.flatMap(([key, value]) => flatten(key, value));
  const short = flat.filter((pair) => pair.every((text) => Buffer.byteLength(text) <= 1024));
  flat.slice(short.length).forEach(warn);
  if (short.length > 64) warn();
  return new Map(short.slice(0, 64).map(([name, value]) => [clean(name), clean(value)]));
}

function flatten(name: string, value: unknown): [string, string][] {
  if (typeof value === "string") return [[name, value.replace(NUMBER, "")]];
  if (value === null || Array.isArray(value) || typeof value !== "object")
    return [[name, JSON.stringify(value).replaceAll(/"\\u0000#([^"]*)"/g, "$1")]];
  return Object.entries(value).flatMap(([key, inner]) => flatten(`${name}.${key}`, inner));
}

/** A `$time` in milliseconds since the epoch, or undefined where it is no time or out of range. */
export function timeOf(value: unknown, receivedAt: number): number | undefined {
  const time =
    typeof value === "number" ? fromUnix(value) : typeof value === "string" ? fromText(value) : NaN;
  return time >= 0 && time <= receivedAt + 86_400_000 ? time : undefined;
}

/** One text per address, empty for what is none. An IPv4 address within IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return "";
  const address = new URL(`http://[${text.replace(/%.*/, "")}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const bytes = Buffer.from(
    mapped
      .slice(1)
      .map((group) => group.padStart(4, "0"))
      .join(""),
    "hex",
  );
  return bytes.join(".");
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** From 1990 on; a fraction is cut. */
function fromUnix(value: number | string): number {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  const time = Number(whole) < 1e11 ? Number(whole + fraction.slice(0, 3).padEnd(3, "0")) : Number(whole);
  return time >= Date.UTC(1990) ? time : NaN;
}

function fromText(text: string): number {
  if (/^\d{8}$/.test(text)) return fromText(text.replace(/(..)(..)$/, "-$1-$2"));
  if (/^\d+(\.\d+)?$/.test(text)) return fromUnix(text);
  const match = ISO.exec(text);
  if (match === null) return NaN;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  if (hour > 23 || minute > 59 || second > 60) return NaN;
  const fraction = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const start = date.getTime() + (hour * 60 + minute) * 60_000 - offsetMs(match[8] ?? "Z");
  if (second === 60 && (start / 60_000 + 1) % 1440 !== 0) return NaN;
  return start + second * 1000 + fraction;
}

type Six = [number, number, number, number, number, number];

function offsetMs(zone: string): number {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return NaN;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
