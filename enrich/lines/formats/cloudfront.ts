import { accessLog, type LoggedRequest, orNothing, type ReadRequest } from "./access-log.js";
import { NO_EVENT, type OpenFormat } from "./line-format.js";

/**
 * Fields between tabs, which the last `#Fields:` names: the chunk's header, or one among its lines. Source:
 * docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/AccessLogs.html
 */
export const cloudfront: OpenFormat = ({ path, header }) => accessLog(requestReader(header), path);

function requestReader(header: string): ReadRequest {
  let columns = header === "" ? DEFAULT_COLUMNS : columnsOf(header);
  return (text) => {
    if (!text.startsWith("#")) return readRequest(text, columns);
    if (text.startsWith(FIELDS)) columns = columnsOf(text);
    return NO_EVENT;
  };
}

const FIELDS = "#Fields:";

function columnsOf(header: string): string[] {
  return header.slice(FIELDS.length).trim().split(/\s+/);
}

/** The fields of a log that lost its head. */
const DEFAULT_COLUMNS = (
  "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status " +
  "cs(Referer) cs(User-Agent) cs-uri-query"
).split(" ");

function readRequest(text: string, columns: readonly string[]): LoggedRequest | undefined {
  const cells = text.split("\t");
  const field = (name: string) => orNothing(cells[columns.indexOf(name)]);
  const time = `${field("date")}T${field("time")}Z`;
  if (cells.length < columns.length || !TIME.test(time)) return undefined;
  const query = field("cs-uri-query");
  return {
    time,
    address: field("c-ip"),
    method: field("cs-method"),
    target: field("cs-uri-stem") + (query === "" ? "" : `?${query}`),
    status: Number(field("sc-status")),
    referrer: decoded(field("cs(Referer)")),
    userAgent: decoded(field("cs(User-Agent)")),
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Header fields are percent-encoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
