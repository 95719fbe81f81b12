import { hash } from "node:crypto";
import { asksForSidecar, namesSidecar } from "../../../schemas/routing/sidecar-files.js";
import { matchRoute } from "../../../schemas/routing/match-route.js";
import {
  type RouteTemplate,
  decodeRouteTemplate,
  readRequestTarget,
} from "../../../schemas/routing/url-template.js";
import { addVariable, LineFields } from "../decode-line.js";
import { error } from "../line-fault.js";
import { NO_EVENT, type ReadLine, type Rejected } from "./line-format.js";

export interface LoggedRequest {
  /** ISO 8601 with its zone, or UNIX seconds. */
  time: unknown;
  /** Of the client; empty where the log has none, or does not say which. */
  address: string;
  /** Empty where the log does not say. */
  userAgent: string;
  referrer: string;
  method: string;
  /** Percent-encoded as sent, in any form of RFC 9112, section 3.2. */
  target: string;
  status: number;
  /** The first byte of a partial answer (206), where the log names it. Not a number: the part is at the end. */
  firstByte?: number | undefined;
}

/** Undefined if it is no line of the log. */
export type ReadRequest = (text: string) => LoggedRequest | Rejected | typeof NO_EVENT | undefined;

/**
 * Downloads are GETs that were answered with 2xx or 3xx and whose target the path matches, but no parts that begin later
 * than a file and no sidecars; all else is no event. A download without a client is refused. The path's variables become
 * the event's; without a path the whole one is its `file`.
 */
export function accessLog(readRequest: ReadRequest, path: string): ReadLine {
  const pattern = patternOf(path);
  const countsSidecars = pattern !== undefined && namesSidecar(pattern);
  return (text, line) => {
    const request = readRequest(text);
    if (request === undefined || request === NO_EVENT || "fault" in request) return request;
    if (!isDownload(request)) return NO_EVENT;
    const target = originForm(request.target);
    const variables = variablesOf(target, pattern);
    if (variables === undefined) return NO_EVENT;
    if (!countsSidecars && asksForSidecar(target, variables)) return NO_EVENT;
    return request.address === "" ? NO_CLIENT : fieldsOf(request, variables, idOf(text, line));
  };
}

const NO_CLIENT: Rejected = {
  fault: error(
    "invalid-value",
    "Unknown client: the line has no IP address in the expected place, or several addresses and no " +
      "indication of which one is the client's",
  ),
};

/** For logs whose server is configured to omit fields. Undefined if all needed fields are there. */
export function withoutFields(needed: Readonly<Record<string, unknown>>): Rejected | undefined {
  const missing = Object.keys(needed).filter((name) => needed[name] === undefined);
  if (missing.length === 0) return undefined;
  const message = `The log does not contain ${missing.join(", ")}, so downloads cannot be recognized`;
  return { fault: error("invalid-value", message) };
}

export const GLUED: Rejected = {
  fault: error(
    "failed-to-decode",
    "The line contains several requests or parts of requests: line breaks were lost",
  ),
};

export const PART: Rejected = {
  fault: error(
    "failed-to-decode",
    "Incomplete line: it was truncated in transit. Send the log as the server wrote it",
  ),
};

function patternOf(path: string): RouteTemplate | undefined {
  if (path === "") return undefined;
  const template = decodeRouteTemplate(path);
  // Checked before the import began.
  if ("fault" in template) throw new Error(`the path ${path} ${template.fault}`);
  return template;
}

/** A server that answered `get` took it for GET. */
function isDownload({ method, status, firstByte = 0 }: LoggedRequest): boolean {
  if (method !== "GET" && method.toUpperCase() !== "GET") return false;
  return status >= 200 && status <= 399 && (status !== 206 || firstByte === 0);
}

/**
 * Path and query of a target that may be a whole URL (RFC 9112, section 3.2.2). As servers answer them, runs of slashes are
 * one, and the segments `.` and `..` are resolved.
 */
function originForm(target: string): string {
  const isUsual = target.startsWith("/") && !target.includes("//") && !target.includes("/.");
  if (isUsual && !target.includes("%2")) return target;
  const relative = target.startsWith("/") ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*\/?/i, "/");
  const end = relative.search(/[?#]/);
  const path = end < 0 ? relative : relative.slice(0, end);
  const single = path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") : path;
  const resolved = DOTS.test(single) ? withoutDots(single) : single;
  return resolved === path ? relative : resolved + (end < 0 ? "" : relative.slice(end));
}

const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** RFC 3986, section 5.2.4. */
function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/").slice(1);
  for (const segment of segments) {
    const plain = segment.replaceAll(/%2e/gi, ".");
    if (plain === "..") kept.pop();
    else if (plain !== ".") kept.push(segment);
  }
  const isFolder = /^(?:\.|%2e){1,2}$/i.test(segments.at(-1) ?? "");
  return `/${kept.join("/")}${isFolder && kept.length > 0 ? "/" : ""}`;
}

type Variables = ReadonlyMap<string, string>;

function variablesOf(target: string, pattern: RouteTemplate | undefined): Variables | undefined {
  if (pattern !== undefined && target.length > MATCHED_LENGTH_MAX) return undefined;
  if (pattern !== undefined) return matchRoute(pattern, readRequestTarget(target));
  return new Map([["file", target.split(/[?#]/, 1)[0] ?? ""]]);
}

/** Servers refuse longer request lines by default; a match takes 100 bytes of memory a character. */
const MATCHED_LENGTH_MAX = 8 * 1024;

function fieldsOf(request: LoggedRequest, variables: Variables, id: string): LineFields {
  const fields = new LineFields();
  fields.$unique_id = id;
  fields.$time = request.time;
  fields.$remote_address = request.address;
  fields.$user_agent = request.userAgent;
  fields.$referrer = request.referrer;
  fields.$version = variables.get("version");
  for (const [name, value] of variables) if (value !== "") addVariable(fields, name, value);
  return fields;
}

/** The same log sent again has the same ids, and equal lines have different ones. */
export function idOf(text: string, line: number): string {
  return hash("sha256", `${line}\n${text}`, "hex").slice(0, ID_DIGITS);
}

const ID_DIGITS = 32;

const MONTHS: ReadonlyMap<string, string> = new Map(
  ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].map((name, at) => [
    name,
    String(at + 1).padStart(2, "0"),
  ]),
);

/** A `LOGGED_TIME` such as `10/Oct/2026:13:55:36 -0700`: `2026-10-10T13:55:36-07:00`. */
export function isoOf(time: string): string {
  const date = `${time.slice(7, 11)}-${MONTHS.get(time.slice(3, 6)) ?? "??"}-${time.slice(0, 2)}`;
  return `${date}T${time.slice(12, 20)}${time.slice(21, 24)}:${time.slice(24)}`;
}

/** Logs write `-` for nothing. */
export function orNothing(text: string | undefined): string {
  return text === undefined || text === "-" ? "" : text;
}
