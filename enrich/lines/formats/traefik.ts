import type { LineObject } from "../decode-line.js";
import { accessLog, type LoggedRequest, withoutFields } from "./access-log.js";
import { clientAddress, clientBehind } from "./client-address.js";
import { firstByteOf, jsonLog, numberIn, textIn, textOf } from "./json-log.js";
import type { OpenFormat, Rejected } from "./line-format.js";

/**
 * The access log of Traefik with `format: json`. User agent, referrer and ranges are in it where its headers are kept. Source:
 * doc.traefik.io/traefik/observe/logs-and-access-logs, pkg/middlewares/accesslog/logdata.go
 */
export const traefik: OpenFormat = ({ path }) => accessLog(jsonLog(requestOf), path);

function requestOf(entry: LineObject): LoggedRequest | Rejected | undefined {
  if (!REQUEST_FIELDS.some((name) => entry[name] !== undefined)) return undefined;
  const [method, target] = [textIn(entry.RequestMethod), textIn(entry.RequestPath)];
  const status = numberIn(entry.DownstreamStatus);
  if (method === undefined || target === undefined || status === undefined)
    return withoutFields({ RequestMethod: method, RequestPath: target, DownstreamStatus: status });
  const client = clientAddress(textOf(entry.ClientHost)) || clientAddress(textOf(entry.ClientAddr));
  return {
    time: textOf(entry.StartUTC) || textOf(entry.StartLocal) || textOf(entry.time),
    address: clientBehind(client, textOf(entry["request_X-Forwarded-For"])),
    method,
    target,
    status,
    firstByte: firstByteOf({
      asked: textOf(entry.request_Range),
      sent: textOf(entry["downstream_Content-Range"]),
    }),
    userAgent: textOf(entry["request_User-Agent"]),
    referrer: textOf(entry.request_Referer),
  };
}

/** Each can be left out with `accessLog.fields`. Lines about Traefik's own doings have none. */
const REQUEST_FIELDS = [
  "RequestMethod",
  "RequestPath",
  "DownstreamStatus",
  "RequestCount",
  "ClientHost",
  "ClientAddr",
  "StartUTC",
  "StartLocal",
];
