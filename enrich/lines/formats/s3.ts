import { countRequests, LOGGED_TIME } from "../../../schemas/records/lost-line-ends.js";
import { accessLog, GLUED, isoOf, type LoggedRequest, orNothing } from "./access-log.js";
import { clientAddress } from "./client-address.js";
import { sent } from "./cloudfront.js";
import type { OpenFormat, Rejected } from "./line-format.js";

/**
 * The target is the object's key, which is how a path of the bucket's site begins: `/tools/tool-1.0.tgz`. Keys of requests
 * are encoded twice. Source: docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export const s3: OpenFormat = ({ path }) => accessLog(readRequest, path);

function readRequest(text: string): LoggedRequest | Rejected | undefined {
  if (countRequests(text, "s3") > 1) return GLUED;
  const found = S3_LINE.exec(text);
  if (found === null) return undefined;
  const [, written = "", address, operation = "", key, status, referrer, userAgent] = found;
  return {
    time: isoOf(written),
    address: clientAddress(orNothing(address)),
    // REST.GET.OBJECT and WEBSITE.GET.OBJECT; all else, such as REST.GET.BUCKET, asks for no file.
    method: operation.endsWith(".GET.OBJECT") ? "GET" : operation,
    target: `/${sent(orNothing(key))}`,
    status: Number(orNothing(status)),
    referrer: orNothing(referrer),
    userAgent: orNothing(userAgent),
  };
}

/** S3 escapes no quotes: one that no space follows is part of the referrer. */
const REFERRER = String.raw`(?:"((?:[^"]|"(?!\s|$))*)"|-)`;
/** The last field in quotes, up to the last quote of the line. */
const AGENT = String.raw`(?:"(.*)"|-)(?=(?: [^"]*)?$)`;

/** Owner, bucket, time, address, requester, request id, operation, key, request line, status, five numbers, headers. */
const S3_LINE = new RegExp(
  String.raw`^\S+ \S+ \[(${LOGGED_TIME})\] (\S+) \S+ \S+ (\S+) (\S+) ` +
    String.raw`(?:"(?:[^"]|"(?! (?:\d{3}|-) ))*"|-) (\d{3}|-) (?:\S+ ){5}${REFERRER} ${AGENT}`,
);
