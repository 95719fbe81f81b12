import { isIPv6 } from "node:net";
import { canonicalAddress, isIPv4 } from "./canonical-address.js";
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

/** Addresses anywhere in a text, which need not be JSON. A line may have more than these. */
const ADDRESSES_MAX = 1_000;

/** Every address in the text of a line, each once, as enrichment spells it. */
export function addressesIn(bytes: Buffer): string[] {
  const found = new Set<string>();
  for (const [text] of bytes.toString("latin1").matchAll(/[0-9A-Fa-f:.]{2,45}/g)) {
    if (found.size >= ADDRESSES_MAX) break;
    if (isIPv4(text)) found.add(text);
    else if (isIPv6(text)) found.add(canonicalAddress(text));
  }
  return [...found];
}
