import { createHash } from "node:crypto";
import { matchRoute } from "../../ingest/routing/match-route.js";
import { type RouteTemplate, readRequestTarget } from "../../ingest/routing/url-template.js";

interface LoggedRequest {
  /** ISO 8601 with its zone. */
  time: string;
  address: string;
  /** Empty where the log does not say. */
  userAgent: string;
  referrer: string;
  method: string;
  /** Path and query, percent-encoded as sent. */
  target: string;
  status: number;
}

/**
 * Undefined if it is no line of the format; `comment`: no request. Some formats name their columns in a
 * comment, so one reader reads all lines of a log, in order.
 */
export type ReadLine = (line: string) => LoggedRequest | "comment" | undefined;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `10/Oct/2026:13:55:36 -0700` as `2026-10-10T13:55:36-07:00`. Undefined if it is no such time. */
function isoOf(time: string): string | undefined {
  const [, day, name = "", year, clock, hours, minutes] = TIME.exec(time) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  if (month === 0) return undefined;
  return `${year}-${String(month).padStart(2, "0")}-${day}T${clock}${hours}:${minutes}`;
}

const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/;

/** Logs write `-` for nothing. */
function orNothing(text: string | undefined): string {
  return text === undefined || text === "-" ? "" : text;
}

/**
 * `combined` and `common` of Apache and nginx, with or without a virtual host ahead and further fields
 * behind. Source: httpd.apache.org/docs/2.4/mod/mod_log_config.html,
 * nginx.org/en/docs/http/ngx_http_log_module.html
 */
export function combinedLog(): ReadLine {
  return (line) => {
    const [, address = "", written = "", request = "", status, referrer, userAgent] =
      COMBINED_LINE.exec(line) ?? [];
    const time = isoOf(written);
    if (time === undefined) return undefined;
    // A client that does not speak HTTP leaves a request line of one word, or of bytes.
    const [method = "", target = ""] = unescaped(request).split(" ");
    return {
      time,
      address,
      method,
      target,
      status: Number(status),
      referrer: unescaped(orNothing(referrer)),
      userAgent: unescaped(orNothing(userAgent)),
    };
  };
}

/** Text in quotes, in which a backslash escapes the next character. */
const QUOTED = String.raw`"((?:[^"\\]|\\.)*)"`;
/** A user's name may contain spaces, so all up to the bracket belongs to it. */
const COMBINED_LINE = new RegExp(
  String.raw`^(?:\S+:\d+ )?(\S+) [^[]*\[([^\]]+)\] ${QUOTED} (\d{3}) \S+(?: ${QUOTED} ${QUOTED})?`,
);

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f", v: "\v" };

/** nginx writes `"` as `\x22`, Apache as `\"`. Bytes that are not ASCII are UTF-8. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/(?:\\x[0-9A-Fa-f]{2})+|\\(.)/g, (whole, character: string | undefined) =>
    character === undefined || whole.startsWith("\\x")
      ? Buffer.from(whole.replaceAll("\\x", ""), "hex").toString()
      : (ESCAPES[character] ?? character),
  );
}

/**
 * The target is the object's key, which is how a path of the bucket's site begins: `/tools/tool-1.0.tgz`.
 * Source: docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export function s3Log(): ReadLine {
  return (line) => {
    const [, written = "", address, operation = "", key, status, referrer, userAgent] =
      S3_LINE.exec(line) ?? [];
    const time = isoOf(written);
    if (time === undefined) return undefined;
    return {
      time,
      address: orNothing(address),
      // REST.GET.OBJECT and WEBSITE.GET.OBJECT; all else, such as REST.GET.BUCKET, asks for no file.
      method: operation.endsWith(".GET.OBJECT") ? "GET" : operation,
      target: `/${orNothing(key)}`,
      status: Number(orNothing(status)),
      referrer: orNothing(referrer),
      userAgent: orNothing(userAgent),
    };
  };
}

/** Owner, bucket, time, address, requester, request id, operation, key, request line, status, five numbers, headers. */
const S3_LINE =
  /^\S+ \S+ \[([^\]]+)\] (\S+) \S+ \S+ (\S+) (\S+) (?:"[^"]*"|-) (\d{3}|-) (?:\S+ ){5}(?:"([^"]*)"|-) (?:"([^"]*)"|-)/;

/**
 * Fields between tabs, which `#Fields:` names. Source:
 * docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/AccessLogs.html
 */
export function cloudfrontLog(): ReadLine {
  let columns: readonly string[] = DEFAULT_FIELDS;
  return (line) => {
    if (line.startsWith("#")) {
      if (line.startsWith("#Fields:")) columns = line.slice("#Fields:".length).trim().split(/\s+/);
      return "comment";
    }
    const cells = line.split("\t");
    const field = (name: string) => orNothing(cells[columns.indexOf(name)]);
    const time = `${field("date")}T${field("time")}Z`;
    if (cells.length < columns.length || !CLOUDFRONT_TIME.test(time)) return undefined;
    const query = field("cs-uri-query");
    return {
      time,
      address: field("c-ip"),
      method: field("cs-method"),
      target: field("cs-uri-stem") + (query === "" ? "" : `?${query}`),
      status: Number(field("sc-status")),
      referrer: decoded(field("cs(Referer)")),
      userAgent: decoded(field("cs(User-Agent)")),
    };
  };
}

const CLOUDFRONT_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The fields of a log that lost its head. */
const DEFAULT_FIELDS = (
  "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status " +
  "cs(Referer) cs(User-Agent) cs-uri-query"
).split(" ");

/** Header fields are percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The import line of a GET that was answered with 2xx or 3xx and whose target the pattern matches; undefined
 * for all else. The pattern's variables become the event's; without a pattern the path is its `file`.
 */
export function eventOf(request: LoggedRequest, pattern?: RouteTemplate): Record<string, string> | undefined {
  const { time, address, userAgent, referrer, method, target, status } = request;
  if (method !== "GET" || status < 200 || status > 399) return undefined;
  const variables = pattern === undefined ? fileOf(target) : variablesOf(pattern, target);
  if (variables === undefined) return undefined;
  const { version = "" } = variables;
  return filled({
    ...variables,
    $time: time,
    $remote_address: address,
    $user_agent: userAgent,
    $referrer: referrer,
    $version: version,
  });
}

/** The same log sent again has the same ids, and equal lines have different ones. */
export function idOf(line: string, number: number): string {
  return createHash("sha256").update(`${number}\n${line}`).digest("hex").slice(0, ID_DIGITS);
}

const ID_DIGITS = 32;

function fileOf(target: string): Record<string, string> {
  return { file: target.split(/[?#]/, 1)[0] ?? "" };
}

function variablesOf(pattern: RouteTemplate, target: string): Record<string, string> | undefined {
  const variables = matchRoute(pattern, readRequestTarget(target));
  return variables === undefined ? undefined : Object.fromEntries(variables);
}

function filled(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ""));
}
