import { orNothing, type ReadLine } from "./logged-request.js";

/**
 * Standard logs of Amazon CloudFront: fields between tabs, which the line `#Fields:` names.
 * Source: docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/AccessLogs.html
 */
export function cloudfrontLog(): ReadLine {
  let columns: readonly string[] = DEFAULT_FIELDS;
  return (line) => {
    if (line.startsWith("#")) {
      if (line.startsWith("#Fields:")) columns = line.slice("#Fields:".length).trim().split(/\s+/);
      return "comment";
    }
    const cells = line.split("\t");
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
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The fields of a log that lost its head. */
const DEFAULT_FIELDS = (
  "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status " +
  "cs(Referer) cs(User-Agent) cs-uri-query"
).split(" ");

/** Header fields are percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
