import { decodeObject } from "./decode-line.js";
import { fieldsOf } from "./line-fields.js";
import { addressOf, readHeaders, readUserAgent } from "./read-event.js";

/** The client that a line of an import names, refused or not; undefined for one without an address that can be read. */
export function clientOfLine(bytes: Buffer): { address: string; userAgent: string } | undefined {
  const object = decodeObject(bytes);
  if (object === undefined) return undefined;
  const { $remote_address: sent, $user_agent: agent, $headers: headers } = fieldsOf(object);
  const address = typeof sent === "string" ? addressOf(sent) : "";
  if (address === "") return undefined;
  return { address, userAgent: readUserAgent(agent) || (readHeaders(headers)?.userAgent ?? "") };
}
