import type { ImportFormat } from "./import-format.js";
import { LOGGED_TIME } from "./lost-line-ends.js";
import { unshipLine } from "./unship-line.js";

/** The format that a text looks like by its first line; undefined where it could be any. The dashboard's script asks too. */
export function guessFormat(head: string): ImportFormat | undefined {
  const [first = ""] = head
    .replace(/^\ufeff/, "")
    .trimStart()
    .split("\n", 1);
  const line = first.includes('"$time"') ? first : (unshipLine(first) ?? first);
  if (/^#(?:Version|Fields):/.test(line)) return "cloudfront";
  if (LOGGED.test(line)) return S3_OPERATION.test(line) ? "s3" : "combined";
  const marks = line.startsWith("{") ? OBJECTS : TABLES;
  const names = line.startsWith("{") ? line : `,${namesOf(line, ",").map(columnName).join(",")},`;
  return marks.find(([, found]) => found.every((each) => names.includes(each)))?.[0];
}

/** What the first line of each format has; the first match counts. */
const OBJECTS: readonly [ImportFormat, string[]][] = [
  ["ndjson", ['"$time"']],
  ["caddy", ['"request":{', '"uri":', '"status":']],
  ["traefik", ['"RequestPath":', '"DownstreamStatus":']],
  ["pypi-bigquery", ['"country_code":', '"file":{', '"filename":']],
];
const TABLES: readonly [ImportFormat, string[]][] = [
  ["csv", [",$time,"]],
  ["scarf-csv", [",id,", ",type,", ",time,", ",origin_id,"]],
  ["docker-dvp", [",action,", ",timestamp,", ",repository,"]],
];

/** `User agent tool` is `user_agent_tool`. */
export function columnName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9$]+/g, "_");
}

const LOGGED = new RegExp(String.raw`^[^{[].*?\[${LOGGED_TIME}\] `);
const S3_OPERATION = /\] \S+ \S+ \S+ (?:REST|WEBSITE|SOAP|BATCH|S3)\./;

/** The names in a header of CSV. */
export function namesOf(line: string, separator: string | RegExp): string[] {
  return line
    .replace(/^\ufeff/, "")
    .trim()
    .split(separator)
    .map((name) =>
      name
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .trim(),
    );
}

/** Names between commas, semicolons or tabs, one of which is that of a time. */
export function isCsvHeader(line: string): boolean {
  const names = namesOf(line, /[,;\t]/);
  return (
    names.length > 1 &&
    names.every((name) => /^[$\w. -]{0,100}$/.test(name)) &&
    names.some((name) => /^\$?(?:time|timestamp|date|datetime|created_at)$/i.test(name))
  );
}
