import { isIPv6 } from "node:net";
import { dateAt } from "../../schemas/date-range.js";
import type { Artifact } from "../../schemas/records/artifact.js";
import {
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
  type ReportedClient,
  type EnrichedEvent,
} from "../../schemas/records/enriched-event.js";
import { HEADER_BYTES_MAX, NAME_BYTES_MAX } from "../../schemas/records/import-limits.js";
import { canonicalAddress, isIPv4 } from "./canonical-address.js";
import { cleanText, describeValue, isLongerThan, truncate } from "./clean-text.js";
import { rememberTexts } from "../lookups/generation-cache.js";
import { error, warning, type LineFault } from "./line-fault.js";
import type { LineFields } from "./decode-line.js";
import { isObject } from "../../schemas/is-object.js";
import { readVariables } from "./read-variables.js";
import { parseTime } from "./parse-time.js";

const UNIQUE_ID_BYTES_MAX = 256;

/** Lines of live events are written by this service: what the request says of its client, and all that it sent. */
const REPORTED: ReadonlyMap<string, keyof ReportedClient> = new Map([
  ["$platform", "platform"],
  ["$client", "client"],
  ["$client_version", "clientVersion"],
]);
export const SENT = "$sent";
const COLLECTED: ReadonlySet<string> = new Set([...REPORTED.keys(), SENT]);

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
  /** Milliseconds since the epoch: events before are no longer kept, and `$time` may not be earlier. */
  oldestTime?: number;
  /** A line of live collection, see `liveFields`. */
  live?: boolean;
}

/** Reads the pre-defined `$` keys and the custom variables of a line. Never throws; the first fault wins. */
export function readEvent(
  fields: LineFields,
  { artifact, line, receivedAt, oldestTime = 0, live = false }: Reading,
): ReadEvent {
  const timeFault = checkTime(fields.$time);
  if (timeFault !== undefined) return { fault: timeFault };
  const time = parseTime(fields.$time, receivedAt);
  if (time === undefined) return { fault: error("invalid-time", timeMessage(fields.$time)) };
  if (time < oldestTime) return { fault: error("past-retention", retentionMessage(oldestTime)) };
  const headers = readHeaders(fields.$headers);
  if (headers === undefined)
    return { fault: invalid("$headers", "an array of {name, value} with string values") };
  const uniqueId = readUniqueId(fields.$unique_id);
  if (uniqueId === undefined)
    return { fault: invalid("$unique_id", `a string of 1 to ${UNIQUE_ID_BYTES_MAX} bytes or an integer`) };
  const textFault = checkTexts(fields);
  if (textFault !== undefined) return { fault: textFault };
  const warnings: LineFault[] = [];
  const event: EnrichedEvent = {
    artifact,
    line,
    uniqueId,
    time,
    type: readText(fields.$type) || TYPE_BY_LIBRARY[artifact.libraryType],
    version: readText(fields.$version),
    domain: readText(fields.$domain),
    referer: readText(fields.$referrer) || readText(fields.$referer) || headers.referer,
    userAgent: readUserAgent(fields.$user_agent) || headers.userAgent,
    address: readAddress(fields.$remote_address, warnings),
    variables: readVariables(fields, warnings, live ? COLLECTED : undefined),
    client: UNKNOWN_CLIENT,
    place: UNKNOWN_PLACE,
    network: UNKNOWN_NETWORK,
    originId: "",
    endpointId: "",
  };
  if (live) readLiveNames(fields, event);
  return { event, warnings };
}

/** The variables `version` and `platform` of a live event are also its fields, where the collector has set none. */
function readLiveNames(fields: LineFields, event: EnrichedEvent): void {
  const version = variableOf(event, "version");
  if (event.version === "" && !isLongerThan(version, NAME_BYTES_MAX)) event.version = version;
  event.reported = readReported(fields);
  const platform = event.reported.platform ?? variableOf(event, "platform");
  if (platform !== "") event.reported.platform = cleanText(truncate(platform, NAME_BYTES_MAX));
}

function readReported({ otherNames, otherValues }: LineFields): ReportedClient {
  const reported: ReportedClient = {};
  for (const [key, field] of REPORTED) {
    const value = otherValues[otherNames.indexOf(key)];
    if (typeof value === "string" && value !== "")
      reported[field] = cleanText(truncate(value, NAME_BYTES_MAX));
  }
  return reported;
}

/** Empty where the event has none of this name. */
function variableOf({ variables }: EnrichedEvent, name: string): string {
  for (let index = 0; index < variables.length; index += 2)
    if (variables[index] === name) return variables[index + 1] ?? "";
  return "";
}

function checkTime(value: unknown): LineFault | undefined {
  return value === undefined || value === null ? error("missing-time", "$time is missing") : undefined;
}

function timeMessage(value: unknown): string {
  const shown = describeValue(value, 60);
  return `$time is not an ISO 8601 date-time or UNIX timestamp between 1970 and tomorrow: ${shown}`;
}

/** A day whose events are gone is closed: an earlier version of the event could not be taken out of its numbers. */
function retentionMessage(oldest: number): string {
  return `$time is before ${dateAt(oldest)}: events of that time are no longer kept, and none are added`;
}

/** An empty text counts as missing: the header, or the other spelling, takes its place. */
export function checkTexts(fields: LineFields): LineFault | undefined {
  return (
    checkHeader("$user_agent", fields.$user_agent) ??
    checkHeader("$referer", fields.$referer) ??
    checkHeader("$referrer", fields.$referrer) ??
    checkName("$version", fields.$version) ??
    checkName("$type", fields.$type) ??
    checkName("$domain", fields.$domain)
  );
}

function checkHeader(key: string, value: unknown): LineFault | undefined {
  return value === undefined || value === null || typeof value === "string"
    ? undefined
    : invalid(key, "a string");
}

function checkName(key: string, value: unknown): LineFault | undefined {
  if (typeof value !== "string") return checkHeader(key, value);
  return isLongerThan(value, NAME_BYTES_MAX)
    ? invalid(key, `at most ${NAME_BYTES_MAX} bytes long`)
    : undefined;
}

function readText(value: unknown): string {
  return typeof value === "string" ? headerText(value) : "";
}

export function readUserAgent(value: unknown): string {
  return typeof value === "string" ? userAgentOf(value) : "";
}

function headerText(text: string): string {
  return cleanText(truncate(text, HEADER_BYTES_MAX));
}

const userAgentOf = rememberTexts(headerText);

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

export function readHeaders(value: unknown): HeaderTexts | undefined {
  if (value === undefined || value === null) return NO_HEADERS;
  if (!Array.isArray(value)) return undefined;
  const found = { userAgent: "", referer: "" };
  for (const header of value) {
    if (!isObject(header) || typeof header.name !== "string" || typeof header.value !== "string")
      return undefined;
    const name = header.name.toLowerCase();
    if (name === "user-agent") found.userAgent ||= userAgentOf(header.value);
    if (name === "referer" || name === "referrer") found.referer ||= headerText(header.value);
  }
  return found;
}

function readAddress(value: unknown, warnings: LineFault[]): string {
  if (value === undefined || value === null || value === "") return "";
  const address = typeof value === "string" ? addressOf(value) : "";
  if (address === "")
    warnings.push(warning("invalid-remote-address", "$remote_address is not an IP address"));
  return address;
}

/** Empty for a text that is no address. */
export function addressOf(text: string): string {
  return isIPv4(text) ? text : ipv6Of(text);
}

const ipv6Of = rememberTexts((text) => (isIPv6(text) ? canonicalAddress(text) : ""));
