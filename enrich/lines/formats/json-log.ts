import { isObject } from "../../../schemas/formats.js";
import { unshipLine } from "../../../schemas/records/unship-line.js";
import { type LineObject, parseObject } from "../decode-line.js";
import { type LoggedRequest, PART, type ReadRequest } from "./access-log.js";
import { NO_EVENT, type Rejected } from "./line-format.js";

/**
 * A server's log of objects: those about its own doings have a level as well, and no request.
 * @param requestOf takes the text of the object as well, for numbers that JavaScript cannot have
 */
export function jsonLog(
  requestOf: (entry: LineObject, text: string) => LoggedRequest | Rejected | undefined,
): ReadRequest {
  const read: ReadRequest = (text) => {
    const entry = parseObject(text);
    const request = entry && requestOf(entry, text);
    if (request !== undefined) return request;
    if (typeof entry?.level === "string") return NO_EVENT;
    const line = unshipLine(text);
    if (line === undefined) return PART;
    return line === text ? undefined : read(line);
  };
  return read;
}

/** The first byte of a partial answer, by what the client asked for and what the server said that it sends. */
export function firstByteOf({ asked, sent }: { asked: string; sent: string }): number | undefined {
  const [, start] = /^bytes (\d+)-/i.exec(sent) ?? /^\s*bytes=\s*(\d*)/i.exec(asked) ?? [];
  if (start === undefined) return undefined;
  return start === "" ? NaN : Number(start);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function objectIn(value: unknown): LineObject {
  return isObject(value) ? value : {};
}
