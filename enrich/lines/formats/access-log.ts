import { createHash } from "node:crypto";
import { asksForSidecar, namesSidecar } from "../../../schemas/routing/sidecar-files.js";
import { matchRoute } from "../../../schemas/routing/match-route.js";
import {
  type RouteTemplate,
  decodeRouteTemplate,
  readRequestTarget,
} from "../../../schemas/routing/url-template.js";
import { addVariable, LineFields } from "../decode-line.js";
import { NO_EVENT, type ReadLine } from "./line-format.js";

export interface LoggedRequest {
  /** ISO 8601 with its zone, or UNIX seconds. */
  time: string | number;
  address: string;
  /** Empty where the log does not say. */
  userAgent: string;
  referrer: string;
  method: string;
  /** Path and query, percent-encoded as sent. */
  target: string;
  status: number;
}

/** Undefined if it is no line of the log. */
export type ReadRequest = (text: string) => LoggedRequest | typeof NO_EVENT | undefined;

/**
 * Downloads are GETs that were answered with 2xx or 3xx and whose target the path matches; all else is no event. The
 * path's variables become the event's; without a path the whole one is its `file`.
 */
export function accessLog(readRequest: ReadRequest, path: string): ReadLine {
  const pattern = patternOf(path);
  const countsSidecars = pattern !== undefined && namesSidecar(pattern);
  return (text, line) => {
    const request = readRequest(text);
    if (request === undefined || request === NO_EVENT) return request;
    const variables = isDownload(request) ? variablesOf(request.target, pattern) : undefined;
    if (variables === undefined) return NO_EVENT;
    if (!countsSidecars && asksForSidecar(request.target, variables)) return NO_EVENT;
    return fieldsOf(request, variables, idOf(text, line));
  };
}

function patternOf(path: string): RouteTemplate | undefined {
  if (path === "") return undefined;
  const template = decodeRouteTemplate(path);
  // Checked before the import began.
  if ("fault" in template) throw new Error(`the path ${path} ${template.fault}`);
  return template;
}

function isDownload({ method, status }: LoggedRequest): boolean {
  return method === "GET" && status >= 200 && status <= 399;
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
  return createHash("sha256").update(`${line}\n${text}`).digest("hex").slice(0, ID_DIGITS);
}

const ID_DIGITS = 32;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `10/Oct/2026:13:55:36 -0700` as `2026-10-10T13:55:36-07:00`. Undefined if it is no such time. */
export function isoOf(time: string): string | undefined {
  const [, day, name = "", year, clock, hours, minutes] = TIME.exec(time) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  if (month === 0) return undefined;
  return `${year}-${String(month).padStart(2, "0")}-${day}T${clock}${hours}:${minutes}`;
}

const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/;

/** An IPv6 address that was written as a URL has it. */
export function withoutBrackets(address: string): string {
  return address.replace(/^\[(.*)\]$/, "$1");
}

/** Logs write `-` for nothing. */
export function orNothing(text: string | undefined): string {
  return text === undefined || text === "-" ? "" : text;
}
