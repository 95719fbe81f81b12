import type { Lookups } from "../../schemas/records/enriched-event.js";
import { addressesIn } from "./addresses-in.js";
import { clientOfLine } from "./client-of-line.js";

/**
 * Answers whether a line as it was sent is of a client (its id in hexadecimal digits): of an `endpoint_id` if its address is
 * anywhere in the line, of an `origin_id` if the line names both its address and its user agent. A line with too many
 * addresses to look at is of every endpoint: erasing it costs the text of a refused line, leaving it breaks a promise.
 */
export function isOfClient(
  line: Buffer,
  { kind, clientId }: { kind: "origin_id" | "endpoint_id"; clientId: string },
  ids: Lookups["ids"],
): boolean {
  if (kind === "endpoint_id")
    return addressesIn(line)?.some((address) => hexOf(ids.endpoint(address)) === clientId) ?? true;
  const client = clientOfLine(line);
  return client !== undefined && hexOf(ids.origin(client.address, client.userAgent)) === clientId;
}

function hexOf(id: string): string {
  return Buffer.from(id, "latin1").toString("hex");
}
