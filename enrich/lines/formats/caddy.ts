import type { LineObject } from "../decode-line.js";
import { LOGGED_TIME } from "../../../schemas/records/lost-line-ends.js";
import { isObject } from "../../../schemas/formats.js";
import { accessLog, isoOf, type LoggedRequest, withoutFields } from "./access-log.js";
import { clientAddress, clientBehind } from "./client-address.js";
import { firstByteOf, jsonLog, numberIn, objectIn, textIn, textOf } from "./json-log.js";
import type { OpenFormat, Rejected } from "./line-format.js";

/**
 * The JSON access log of Caddy 2. Source: caddyserver.com/docs/caddyfile/directives/log, and lines of 2.11.
 * Until 2.4 the address was `remote_addr`, with its port.
 */
export const caddy: OpenFormat = ({ path }) => accessLog(jsonLog(requestOf), path);

function requestOf(entry: LineObject, text: string): LoggedRequest | Rejected | undefined {
  if (!isOfAccessLog(entry)) return undefined;
  const request = objectIn(entry.request);
  const { headers } = request;
  const [method, target, status] = [textIn(request.method), textIn(request.uri), numberIn(entry.status)];
  if (method === undefined || target === undefined || status === undefined)
    return withoutFields({ "request>method": method, "request>uri": target, status });
  return {
    time: timeOf(entry, text),
    address: clientBehind(nearestAddress(request), headersOf(headers, "X-Forwarded-For").join(",")),
    method,
    target,
    status,
    firstByte: firstByteOf({
      asked: headerOf(headers, "Range"),
      sent: headerOf(entry.resp_headers, "Content-Range"),
    }),
    userAgent: headerOf(headers, "User-Agent"),
    referrer: headerOf(headers, "Referer"),
  };
}

/** Other loggers have requests as well: with `debug`, that of `reverse_proxy` has each one again, with its status. */
function isOfAccessLog({ logger, request }: LineObject): boolean {
  return typeof logger === "string" ? logger.startsWith("http.log.access") : isObject(request);
}

/** `client_ip` is that behind trusted proxies. */
function nearestAddress({ client_ip: client, remote_ip: remote, remote_addr: withPort }: LineObject): string {
  const addresses = [client, remote, withPort].map((field) => clientAddress(textOf(field)));
  return addresses.find((address) => address !== "") ?? "";
}

/** The names that `time_key` is given, after Caddy's own, and their number as it was written: JavaScript drops digits. */
const TIME_KEYS = ["ts", "time", "timestamp", "@timestamp"].map((key) => ({
  key,
  number: new RegExp(`"${key}":\\s*([\\d.]+)(?=[\\s,}])`),
}));

/** In each form that `time_format` has a name for. Wall time is in UTC. */
function timeOf(entry: LineObject, text: string): unknown {
  const { key, number } = TIME_KEYS.find((named) => entry[named.key] !== undefined) ?? TIME_KEYS[0]!;
  const time = entry[key];
  if (typeof time === "number" && Number.isSafeInteger(time)) return time;
  const written = typeof time === "number" ? number.exec(text)?.[1] : textOf(time);
  if (written === undefined) return time;
  // Nanoseconds, of which milliseconds are left.
  if (/^\d{18,19}$/.test(written)) return Number(written.slice(0, -6));
  return COMMON.test(written) ? isoOf(written) : written.replace(WALL, "$1-$2-$3T$4");
}

const COMMON = new RegExp(`^${LOGGED_TIME}$`);
const WALL = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)$/;

/** Go writes names of headers in one way, and each has a list. */
function headersOf(headers: unknown, name: string): string[] {
  const values = objectIn(headers)[name];
  return Array.isArray(values) ? values.map(textOf) : [];
}

function headerOf(headers: unknown, name: string): string {
  return headersOf(headers, name)[0] ?? "";
}
