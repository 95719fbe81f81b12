import { countRequests, LOGGED_TIME } from "../../../schemas/records/lost-line-ends.js";
import { unshipLine } from "../../../schemas/records/unship-line.js";
import { addressOf } from "../../lookups/parse-address.js";
import { accessLog, GLUED, isoOf, type LoggedRequest, orNothing, PART } from "./access-log.js";
import { clientBefore, clientBehind } from "./client-address.js";
import type { OpenFormat, Rejected } from "./line-format.js";

/**
 * `combined` and `common` of Apache and nginx, with or without a virtual host ahead and further fields
 * behind. Source: httpd.apache.org/docs/2.4/mod/mod_log_config.html,
 * nginx.org/en/docs/http/ngx_http_log_module.html
 */
export const combined: OpenFormat = ({ path }) => accessLog(readRequest, path);

function readRequest(text: string): LoggedRequest | Rejected | undefined {
  const [beginning = "", head = "", written = ""] = BEGINNING.exec(text) ?? [];
  REST.lastIndex = beginning.length;
  const found = beginning === "" ? null : REST.exec(text);
  if (found === null) return readShipped(text);
  const [whole, request = "", status, referrer, userAgent] = found;
  const behind = text.slice(beginning.length + whole.length);
  const isPlain = behind === "" && !hasQuote(request) && !hasQuote(referrer) && !hasQuote(userAgent);
  if (!isPlain && countRequests(text.slice(beginning.length), "combined") > 0) return GLUED;
  const client = clientOf(head);
  if (typeof client !== "string") return client;
  return {
    time: isoOf(written),
    address: behind === "" ? client : forwardedClient(client, behind),
    ...requestLine(request),
    status: Number(status),
    referrer: unescaped(orNothing(referrer)),
    userAgent: unescaped(orNothing(userAgent)),
  };
}

/** A line whose quotes are those of JSON around it. */
function readShipped(text: string): LoggedRequest | Rejected | undefined {
  if (!text.startsWith("{")) return undefined;
  const line = unshipLine(text);
  if (line === undefined) return PART;
  return line === text ? undefined : readRequest(line);
}

/** All fields up to the time belong to the head: a user's name may contain spaces and brackets. */
const BEGINNING = new RegExp(String.raw`^(.*?)\[(${LOGGED_TIME})\] (?=")`);

/**
 * Text in quotes, in which a backslash escapes the next character. Some servers escape no quotes: one that `end` does not
 * follow is part of the text.
 */
const quoted = (end: string) => String.raw`"([^"\\]*(?:(?:\\.|"(?!${end}))[^"\\]*)*)`;
const IN_LINE = String.raw`\s|$`;
/** From the request on: a second expression, as one would try every time in a hostile line, and read it to its end. */
const REST = new RegExp(
  String.raw`${quoted(" [0-9]{3} ")}" (\d{3}) \S+` +
    String.raw`(?:(?: [^\s"]\S*)*? ${quoted(IN_LINE)}" ${quoted(IN_LINE)}(?:"|$))?`,
  "y",
);

function clientOf(head: string): string | Rejected {
  const [, first = ""] = USUAL_HEAD.exec(head) ?? [];
  if (first !== "" && addressOf(first).family !== 0) return first;
  const line = unshipLine(head);
  if (line === undefined) return PART;
  // The end of one line is missing, and the beginning of the next.
  return line.lastIndexOf("[") > line.lastIndexOf("]") ? GLUED : clientBefore(line);
}

const USUAL_HEAD = /^(\S+) - \S+ $/;

function hasQuote(text = ""): boolean {
  return text.includes('"');
}

/** Behind a proxy of the server's own network, nginx's format `main` has the client at its end: "$http_x_forwarded_for". */
function forwardedClient(address: string, behind: string): string {
  const [, forwarded = ""] = /^ "([^"]*)"/.exec(behind) ?? [];
  return clientBehind(address, forwarded);
}

/**
 * `GET /a HTTP/1.1`; HTTP/0.9 has no version. A target with spaces is one that a server took. A client that does not
 * speak HTTP leaves one word, or bytes.
 */
function requestLine(text: string): Pick<LoggedRequest, "method" | "target"> {
  const line = text.includes("\\") ? unescapedRequest(text) : text;
  const start = line.indexOf(" ");
  if (start < 0) return { method: line, target: "" };
  const last = line.lastIndexOf(" ");
  const end = last > start && line.startsWith("HTTP/", last + 1) ? last : line.length;
  return { method: line.slice(0, start), target: line.slice(start + 1, end).trim() };
}

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f", v: "\v" };

/** nginx writes `"` as `\x22`, Apache as `\"`. Bytes that are not ASCII are UTF-8. */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/(?:\\x[0-9A-Fa-f]{2})+|\\(.)/g, (whole, character: string | undefined) =>
    character === undefined || whole.startsWith("\\x")
      ? Buffer.from(whole.replaceAll("\\x", ""), "hex").toString()
      : (ESCAPES[character] ?? character),
  );
}

/** Bytes that are not ASCII are percent-encoded, as in any target: some are not UTF-8. */
function unescapedRequest(text: string): string {
  return unescaped(
    text.replace(/\\x([89A-Fa-f][0-9A-Fa-f])|\\[^]/g, (escape, byte: string | undefined) =>
      byte === undefined ? escape : `%${byte}`,
    ),
  );
}
