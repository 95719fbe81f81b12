import { isIP } from "node:net";
import type { Artifact } from "../../schemas/records/artifact.js";
import {
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
  type EnrichedEvent,
} from "../../schemas/records/enriched-event.js";
import { canonicalAddress } from "./canonical-address.js";
import { cleanText, describeValue, isLongerThan, truncate } from "./clean-text.js";
import { error, warning, type LineFault } from "./line-fault.js";
import { isObject, type LineObject } from "./line-object.js";
import { readVariables } from "./read-variables.js";
import { parseTime } from "./parse-time.js";

const UNIQUE_ID_BYTES_MAX = 256;
const NAME_BYTES_MAX = 256;
const HEADER_BYTES_MAX = 2048;

const KNOWN = new Set([
  "$time",
  "$unique_id",
  "$package",
  "$pixel",
  "$tracking_pixel",
  "$remote_address",
  "$user_agent",
  "$referrer",
  "$referer",
  "$version",
  "$type",
  "$domain",
  "$headers",
]);

/** Lines of live events are written by this service, which may set the platform. */
const KNOWN_LIVE = new Set([...KNOWN, "$platform"]);

const TYPE_BY_LIBRARY = {
  docker: "image-pull",
  npm: "package-download",
  hackage: "package-download",
  pypi: "package-download",
  other: "file-download",
  "": "pixel-fetch",
} as const;

/** An event with the warnings of its line, or the first fault that refuses the line. */
export type ReadEvent = { event: EnrichedEvent; warnings: LineFault[] } | { fault: LineFault };

export interface Reading {
  artifact: Artifact;
  /** 1-based line of the import. */
  line: number;
  /** Milliseconds since the epoch: `$time` may be at most a day later. */
  receivedAt: number;
  /** A line of live collection: it may have `$platform`. */
  live?: boolean;
}

/** Reads the pre-defined `$` keys and the custom variables of a line. Never throws; the first fault wins. */
export function readEvent(
  object: LineObject,
  { artifact, line, receivedAt, live = false }: Reading,
): ReadEvent {
  const timeFault = checkTime(object.$time);
  if (timeFault !== undefined) return { fault: timeFault };
  const time = parseTime(object.$time, receivedAt);
  if (time === undefined) return { fault: error("invalid-time", timeMessage(object.$time)) };
  const texts = readTexts(object);
  if ("class" in texts) return { fault: texts };
  const warnings: LineFault[] = [];
  const event: EnrichedEvent = {
    artifact,
    line,
    uniqueId: texts.uniqueId,
    time,
    type: texts.type === "" ? TYPE_BY_LIBRARY[artifact.libraryType] : texts.type,
    version: texts.version,
    domain: texts.domain,
    referer: texts.referer,
    userAgent: texts.userAgent,
    address: readAddress(object.$remote_address, warnings),
    variables: readVariables(object, live ? KNOWN_LIVE : KNOWN, warnings),
    ...(live && readPlatform(object.$platform)),
    client: UNKNOWN_CLIENT,
    place: UNKNOWN_PLACE,
    network: UNKNOWN_NETWORK,
    originId: "",
    endpointId: "",
  };
  return { event, warnings };
}

function readPlatform(value: unknown): { platform?: string } {
  if (typeof value !== "string" || value === "") return {};
  return { platform: cleanText(truncate(value, NAME_BYTES_MAX)) };
}

function checkTime(value: unknown): LineFault | undefined {
  return value === undefined || value === null ? error("missing-time", "$time is missing") : undefined;
}

function timeMessage(value: unknown): string {
  const shown = describeValue(value, 60);
  return `$time is not an ISO 8601 date-time or UNIX timestamp between 1970 and tomorrow: ${shown}`;
}

interface Texts {
  uniqueId: string;
  type: string;
  version: string;
  domain: string;
  referer: string;
  userAgent: string;
}

function readTexts(object: LineObject): Texts | LineFault {
  const headers = readHeaders(object.$headers);
  if (headers === undefined) return invalid("$headers", "an array of {name, value} with string values");
  const uniqueId = readUniqueId(object.$unique_id);
  if (uniqueId === undefined)
    return invalid("$unique_id", `a string of 1 to ${UNIQUE_ID_BYTES_MAX} bytes or an integer`);
  const texts = {
    uniqueId,
    type: "",
    version: "",
    domain: "",
    referer: headers.referer,
    userAgent: headers.userAgent,
  };
  for (const [key, field, bytesMax] of TEXT_KEYS) {
    const value = object[key];
    // An empty text counts as missing: the header, or the other spelling, takes its place.
    if (value === undefined || value === null || value === "") continue;
    if (typeof value !== "string") return invalid(key, "a string");
    if (bytesMax === NAME_BYTES_MAX && isLongerThan(value, bytesMax))
      return invalid(key, `at most ${bytesMax} bytes long`);
    texts[field] = cleanText(truncate(value, bytesMax));
  }
  return texts;
}

/** If two keys set the same field, the later entry wins. */
const TEXT_KEYS = [
  ["$user_agent", "userAgent", HEADER_BYTES_MAX],
  ["$referer", "referer", HEADER_BYTES_MAX],
  ["$referrer", "referer", HEADER_BYTES_MAX],
  ["$version", "version", NAME_BYTES_MAX],
  ["$type", "type", NAME_BYTES_MAX],
  ["$domain", "domain", NAME_BYTES_MAX],
] as const;

function invalid(key: string, expected: string): LineFault {
  return error("invalid-value", `${key} must be ${expected}`);
}

function readUniqueId(value: unknown): string | undefined {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== "string" || value === "" || isLongerThan(value, UNIQUE_ID_BYTES_MAX)) return undefined;
  return value;
}

interface HeaderTexts {
  userAgent: string;
  referer: string;
}

const NO_HEADERS: HeaderTexts = Object.freeze({ userAgent: "", referer: "" });

function readHeaders(value: unknown): HeaderTexts | undefined {
  if (value === undefined || value === null) return NO_HEADERS;
  if (!Array.isArray(value)) return undefined;
  const found = { userAgent: "", referer: "" };
  for (const header of value) {
    if (!isObject(header) || typeof header.name !== "string" || typeof header.value !== "string")
      return undefined;
    const name = header.name.toLowerCase();
    if (name === "user-agent") found.userAgent ||= cleanText(truncate(header.value, HEADER_BYTES_MAX));
    if (name === "referer" || name === "referrer")
      found.referer ||= cleanText(truncate(header.value, HEADER_BYTES_MAX));
  }
  return found;
}

function readAddress(value: unknown, warnings: LineFault[]): string {
  if (value === undefined || value === null || value === "") return "";
  const address = typeof value === "string" && isIP(value) !== 0 ? canonicalAddress(value) : "";
  if (address === "")
    warnings.push(warning("invalid-remote-address", "$remote_address is not an IP address"));
  return address;
}
