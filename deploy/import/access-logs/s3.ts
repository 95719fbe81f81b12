import { isoOf, orNothing, type ReadLine } from "./logged-request.js";

/**
 * Server access logs of Amazon S3. The target is the object's key, which is how a path of the bucket's site begins:
 * `/tools/tool-1.0.tgz`.
 * Source: docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export function s3Log(): ReadLine {
  return (line) => {
    const [, written = "", address, operation = "", key, status, referrer, userAgent] = LINE.exec(line) ?? [];
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
  };
}

/** Owner, bucket, time, address, requester, request id, operation, key, request line, status, five numbers, headers. */
const LINE =
  /^\S+ \S+ \[([^\]]+)\] (\S+) \S+ \S+ (\S+) (\S+) (?:"[^"]*"|-) (\d{3}|-) (?:\S+ ){5}(?:"([^"]*)"|-) (?:"([^"]*)"|-)/;
