import type { LineObject } from "../decode-line.js";
import { accessLog, type LoggedRequest } from "./access-log.js";
import { jsonLog, textOf } from "./json-log.js";
import type { OpenFormat } from "./line-format.js";

/**
 * The access log of Traefik with `format: json`. User agent and referrer are in it where its headers are kept. Source:
 * doc.traefik.io/traefik/observe/logs-and-access-logs, pkg/middlewares/accesslog/logdata.go
 */
export const traefik: OpenFormat = ({ path }) => accessLog(jsonLog(requestOf), path);

function requestOf(entry: LineObject): LoggedRequest | undefined {
  const { RequestMethod: method, RequestPath: target, DownstreamStatus: status } = entry;
  if (typeof method !== "string" || typeof target !== "string" || typeof status !== "number")
    return undefined;
  return {
    time: textOf(entry.StartUTC) || textOf(entry.time),
    address: textOf(entry.ClientHost),
    method,
    target,
    status,
    userAgent: textOf(entry["request_User-Agent"]),
    referrer: textOf(entry.request_Referer),
  };
}
