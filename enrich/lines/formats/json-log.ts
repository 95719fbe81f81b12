import { isObject } from "../../../schemas/formats.js";
import { type LineObject, parseObject } from "../decode-line.js";
import type { LoggedRequest, ReadRequest } from "./access-log.js";
import { NO_EVENT } from "./line-format.js";

/** A server's log of objects: those about its own doings have a level as well, and no request. */
export function jsonLog(requestOf: (entry: LineObject) => LoggedRequest | undefined): ReadRequest {
  return (text) => {
    const entry = parseObject(text);
    if (entry === undefined) return undefined;
    return requestOf(entry) ?? (typeof entry.level === "string" ? NO_EVENT : undefined);
  };
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function objectIn(value: unknown): LineObject {
  return isObject(value) ? value : {};
}
