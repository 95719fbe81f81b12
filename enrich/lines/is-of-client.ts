import { endpointId, type Ids, originId } from "../lookups/open-ids.js";
import { decodeObject, fieldsOf } from "./decode-line.js";
import { decoded } from "./formats/cloudfront.js";
import { unescaped } from "./formats/combined.js";
import { addressesIn } from "./find-addresses.js";
import { cellsOf } from "./formats/csv.js";
import { addressText, readHeaders, readUserAgent } from "./read-fields.js";

/**
 * An `endpoint_id` is of a line with its address anywhere, an `origin_id` of one that names both its address
 * and its user agent. A line with too many addresses is of every endpoint: erasing it costs a refused line's
 * text, leaving it breaks a promise.
 */
export function isOfClient(
  line: Buffer,
  { kind, clientId }: { kind: "origin_id" | "endpoint_id"; clientId: string },
  ids: Ids,
): boolean {
  if (kind === "endpoint_id")
    return (
      addressesIn(line.toString("latin1"))?.some((address) => endpointId(ids, address) === clientId) ?? true
    );
  const client = clientOfLine(line);
  const clients = client === undefined ? clientsIn(line) : [client];
  return clients?.some(({ address, userAgent }) => originId(ids, address, userAgent) === clientId) ?? true;
}

interface LineClient {
  address: string;
  userAgent: string;
}

/** The client that a line of NDJSON names, refused or not; undefined for one without an address that can be read. */
function clientOfLine(bytes: Buffer): LineClient | undefined {
  const object = decodeObject(bytes);
  if (object === undefined) return undefined;
  const { $remote_address: sent, $user_agent: agent, $headers: headers } = fieldsOf(object);
  const address = typeof sent === "string" ? addressText(sent) : "";
  if (address === "") return undefined;
  return { address, userAgent: readUserAgent(agent) || (readHeaders(headers)?.userAgent ?? "") };
}

/** With more pairs of them a line is of every client. */
const CLIENTS_MAX = 2_000;

/**
 * Lines of other formats: each address with each text that could be a user agent, and with none. Their format is not
 * known any more. Undefined if there are too many.
 */
function clientsIn(bytes: Buffer): LineClient[] | undefined {
  const addresses = addressesIn(bytes.toString("latin1"));
  if (addresses?.length === 0) return [];
  const agents = [...new Set(["", ...textsIn(bytes.toString())].map(readUserAgent))];
  if (addresses === undefined || addresses.length * agents.length > CLIENTS_MAX) return undefined;
  return addresses.flatMap((address) => agents.map((userAgent) => ({ address, userAgent })));
}

/** Texts in quotes of logs and JSON, also of a log within JSON, cells of CSV, and cells between tabs, percent-encoded once or twice. */
function* textsIn(line: string): Generator<string> {
  for (const [quoted, inside = ""] of line.matchAll(QUOTED)) {
    const text = textOfJson(quoted);
    yield* [unescaped(inside), text];
    if (text.includes('"')) for (const [, within = ""] of text.matchAll(QUOTED)) yield unescaped(within);
  }
  yield* cellsOf(line) ?? [];
  for (const cell of line.split("\t").map(decoded)) yield* [cell, decoded(cell)];
}

/** The last one may be cut. */
const QUOTED = /"((?:[^"\\]|\\.)*)(?:"|$)/g;

function textOfJson(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return "";
  }
}
