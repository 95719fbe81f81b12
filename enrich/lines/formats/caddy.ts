import type { LineObject } from "../decode-line.js";
import { accessLog, type LoggedRequest, withoutBrackets } from "./access-log.js";
import { jsonLog, objectIn, textOf } from "./json-log.js";
import type { OpenFormat } from "./line-format.js";

/**
 * The JSON access log of Caddy 2. Source: caddyserver.com/docs/caddyfile/directives/log, and lines of 2.11.
 * Until 2.4 the address was `remote_addr`, with its port.
 */
export const caddy: OpenFormat = ({ path }) => accessLog(jsonLog(requestOf), path);

function requestOf({ request, status, ts }: LineObject): LoggedRequest | undefined {
  const {
    method,
    uri,
    client_ip: client,
    remote_ip: remote,
    remote_addr: withPort,
    headers,
  } = objectIn(request);
  if (typeof method !== "string" || typeof uri !== "string" || typeof status !== "number") return undefined;
  return {
    time: typeof ts === "number" ? ts : textOf(ts),
    // `client_ip` is that behind trusted proxies.
    address: textOf(client) || textOf(remote) || withoutBrackets(textOf(withPort).replace(/:\d+$/, "")),
    method,
    target: uri,
    status,
    userAgent: headerOf(headers, "User-Agent"),
    referrer: headerOf(headers, "Referer"),
  };
}

/** Go writes names of headers in one way, and each has a list. */
function headerOf(headers: unknown, name: string): string {
  const values = objectIn(headers)[name];
  return Array.isArray(values) ? textOf(values[0]) : "";
}
