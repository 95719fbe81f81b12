import { countRequests } from "../../../schemas/records/lost-line-ends.js";
import {
  accessLog,
  GLUED,
  type LoggedRequest,
  orNothing,
  type ReadRequest,
  withoutFields,
} from "./access-log.js";
import { clientAddress } from "./client-address.js";
import { NO_EVENT, type OpenFormat, type Rejected } from "./line-format.js";

/**
 * Fields between tabs, which the last `#Fields:` names: the chunk's header, or one among its lines. Source:
 * docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
 */
export const cloudfront: OpenFormat = ({ path, header }) => accessLog(requestReader(header), path);

function requestReader(header: string): ReadRequest {
  let columns = header === "" ? undefined : columnsOf(header);
  let incomplete = columns && incompleteLog(columns);
  return (text) => {
    if (!text.startsWith("#")) return incomplete ?? readRequest(text, columns);
    if (countRequests(text, "cloudfront") > 0) return GLUED;
    if (!text.startsWith(FIELDS)) return NO_EVENT;
    columns = columnsOf(text);
    incomplete = incompleteLog(columns);
    return NO_EVENT;
  };
}

/** The fields of a log can be chosen. */
function incompleteLog(columns: readonly string[]): Rejected | undefined {
  return withoutFields(Object.fromEntries(NEEDED.map((name) => [name, columns.includes(name) || undefined])));
}

const NEEDED = ["cs-method", "cs-uri-stem", "sc-status"];

const FIELDS = "#Fields:";

function columnsOf(header: string): string[] {
  return header.slice(FIELDS.length).trim().split(/\s+/);
}

/** The first fields of a log that lost its head. */
const DEFAULT_COLUMNS = (
  "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status " +
  "cs(Referer) cs(User-Agent) cs-uri-query"
).split(" ");

function readRequest(
  text: string,
  named: readonly string[] | undefined,
): LoggedRequest | Rejected | undefined {
  const columns = named ?? DEFAULT_COLUMNS;
  const cells = text.split("\t");
  const field = (name: string) => orNothing(cells[columns.indexOf(name)]);
  const time = columns.includes("date") ? `${field("date")}T${field("time")}Z` : unixTime(field);
  if (cells.length < columns.length || !TIME.test(time)) return undefined;
  if (named === undefined ? countRequests(text, "cloudfront") > 1 : cells.length > columns.length)
    return GLUED;
  const agent = field("cs(User-Agent)");
  // Old logs have headers encoded twice. No agent has all of its spaces encoded.
  const once = decoded(agent);
  const times = once.includes("%20") && !once.includes(" ") ? 2 : 1;
  const query = sent(field("cs-uri-query"), times);
  const start = field("sc-range-start");
  return {
    time,
    address: clientAddress(field("c-ip")),
    method: field("cs-method"),
    target: sent(field("cs-uri-stem"), times) + (query === "" ? "" : `?${query}`),
    status: Number(field("sc-status")),
    firstByte: start === "" ? undefined : Number(start),
    referrer: times === 1 ? decoded(field("cs(Referer)")) : decoded(decoded(field("cs(Referer)"))),
    userAgent: times === 1 ? once : decoded(once),
  };
}

const TIME = /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d{10}(?:\.\d+)?|\d{13})$/;

/** Of logs whose fields were chosen. */
function unixTime(field: (name: string) => string): string {
  return field("timestamp(ms)") || field("timestamp");
}

/** Path or query as the client sent it: the log encodes the per cent signs of what was encoded already. */
export function sent(text: string, times = 1): string {
  const once = text.replaceAll("%25", "%");
  return times === 1 ? once : once.replaceAll("%25", "%");
}

/** Header fields are percent-encoded. */
export function decoded(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
}
