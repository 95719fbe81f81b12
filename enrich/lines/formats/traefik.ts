import type { LineObject } from "../decode-line.js";
import { accessLog, type LoggedRequest } from "./access-log.js";
import { clientAddress, clientBehind } from "./client-address.js";
import { firstByteOf, jsonLog, textOf } from "./json-log.js";
import type { OpenFormat } from "./line-format.js";

/**
 * The access log of Traefik with `format: json`. User agent, referrer and ranges are in it where its headers are kept. Source:
 * doc.traefik.io/traefik/observe/logs-and-access-logs, pkg/middlewares/accesslog/logdata.go
 */
export const traefik: OpenFormat = ({ path }) => accessLog(jsonLog(requestOf), path);

function requestOf(entry: LineObject): LoggedRequest | undefined {
  const { RequestMethod: method, RequestPath: target, DownstreamStatus: status } = entry;
  if (typeof method !== "string" || typeof target !== "string" || typeof status !== "number")
    return undefined;
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
