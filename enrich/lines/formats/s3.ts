import { accessLog, isoOf, type LoggedRequest, orNothing } from "./access-log.js";
import type { OpenFormat } from "./line-format.js";

/**
 * The target is the object's key, which is how a path of the bucket's site begins: `/tools/tool-1.0.tgz`.
 * Source: docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export const s3: OpenFormat = ({ path }) => accessLog(readRequest, path);

function readRequest(text: string): LoggedRequest | undefined {
  const [, written = "", address, operation = "", key, status, referrer, userAgent] =
    S3_LINE.exec(text) ?? [];
  const time = isoOf(written);
  if (time === undefined) return undefined;
  return {
    time,
    address: orNothing(address),
    // REST.GET.OBJECT and WEBSITE.GET.OBJECT; all else, such as REST.GET.BUCKET, asks for no file.
    method: operation.endsWith(".GET.OBJECT") ? "GET" : operation,
    target: `/${orNothing(key)}`,
    status: Number(orNothing(status)),
    referrer: orNothing(referrer),
    userAgent: orNothing(userAgent),
  };
}

/** Owner, bucket, time, address, requester, request id, operation, key, request line, status, five numbers, headers. */
const S3_LINE =
  /^\S+ \S+ \[([^\]]+)\] (\S+) \S+ \S+ (\S+) (\S+) (?:"[^"]*"|-) (\d{3}|-) (?:\S+ ){5}(?:"([^"]*)"|-) (?:"([^"]*)"|-)/;
