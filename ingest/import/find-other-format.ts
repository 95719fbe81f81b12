import { columnName, guessFormat, isCsvHeader, namesOf } from "../../schemas/records/guess-format.js";
import { type ImportFormat, linesOf } from "../../schemas/records/import-format.js";
import { isBlank, withoutByteOrderMark } from "../../schemas/records/import-line.js";
import { countRequests, endOfObject } from "../../schemas/records/lost-line-ends.js";
import { unshipLine } from "../../schemas/records/unship-line.js";
import { findPacking, type Packing } from "./open-body.js";
import { skipBlankLines } from "./skip-blank-lines.js";

const PACKED: Partial<Record<Packing, string>> = {
  gzip: "The body is compressed with gzip. Send it with Content-Encoding: gzip.",
  zstd: "The body is compressed with zstd. Decompress it, or send it with Content-Encoding: zstd if that is supported.",
  zip: "The body is a zip file. Unzip it first. You can compress the lines with gzip instead.",
};

/** Why a body that begins so is plainly not of the format, and what to do; undefined where it may be. */
export function findOtherFormat(head: Buffer, format: ImportFormat): string | undefined {
  const packing = findPacking(head);
  const packed = packing && PACKED[packing];
  if (packed !== undefined) return packed;
  const { rest } = skipBlankLines(head);
  const encoded = otherEncoding(head, rest);
  if (encoded !== undefined) return encoded;
  if (isBlank(withoutByteOrderMark(rest))) return undefined;
  const [first = "", ...others] = rest.toString().split("\n");
  const line = first.replace(/^\ufeff/, "").trimStart();
  if (isArray(line, format))
    return "The body is a JSON array. Send one object per line: `jq -c '.[]'` converts the array to lines.";
  const joined = joinedLines(line, { format, isWhole: others.length > 0 });
  if (joined !== undefined) return joined;
  if (format === "ndjson") return notNdjson(line);
  return NOT_OF[linesOf(format)](line, format);
}

const UTF_16 =
  "The body is UTF-16. Send it as UTF-8: `iconv -f UTF-16 -t UTF-8` converts a file; in PowerShell use " +
  "`Out-File -Encoding utf8` instead of `>`.";
const NULS =
  "The body starts with NUL bytes, which happens when a log is truncated while its server keeps writing. " +
  "Remove them with `tr -d '\\000'`.";

/** Bytes whose zeros say that they are no UTF-8. */
function otherEncoding(head: Buffer, rest: Buffer): string | undefined {
  if (UTF_16_MARKS.includes(head.subarray(0, 2).toString("hex"))) return UTF_16;
  const start = head.subarray(0, ENCODING_BYTES);
  const zeros = [0, 1].map((parity) => start.filter((byte, at) => byte === 0 && at % 2 === parity).length);
  const half = Math.floor(start.length / 2);
  if (half > 0 && Math.max(...zeros) >= half && Math.min(...zeros) <= half / 2) return UTF_16;
  return rest[0] === 0 ? NULS : undefined;
}

const UTF_16_MARKS = ["fffe", "feff"];
/** Enough characters of a line, which are ASCII in all formats. */
const ENCODING_BYTES = 32;

const JOINED =
  "The first line of the body contains several lines: line breaks were lost. End each line with LF or CRLF.";

/** A first line that has all of the body, or much of it. */
function joinedLines(
  line: string,
  { format, isWhole }: { format: ImportFormat; isWhole: boolean },
): string | undefined {
  if (linesOf(format) === "objects") return joinedObjects(line, isWhole);
  if (/\r(?!\r*$)/.test(line)) return "The lines of the body end with CR. End each line with LF or CRLF.";
  const most = format === "cloudfront" && line.startsWith("#") ? 0 : 1;
  return countRequests(line, format) > most ? JOINED : undefined;
}

function joinedObjects(line: string, isWhole: boolean): string | undefined {
  if (isWhole && /^\{\s*$/.test(line))
    return (
      "An object of the body spans several lines. Send one object per line: `jq -c .` puts each object on " +
      "one line."
    );
  const end = endOfObject(line);
  const behind = end < 0 ? "" : line.slice(end).trimStart();
  return /^[{,]/.test(behind)
    ? "The first line of the body contains several objects. Send one object per line: `jq -c .` puts each " +
        "object on one line; curl keeps line breaks with `-T file` or `--data-binary @file`."
    : undefined;
}

/** A line of a log may begin with a bracket, that of an address or a time. */
function isArray(line: string, format: ImportFormat): boolean {
  return linesOf(format) === "texts" ? /^\[\s*(?:\{|$)/.test(line) : line.startsWith("[");
}

const NOT_OF = { rows: notTable, objects: notObjects, texts: notLog } as const;

function notNdjson(line: string): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike === undefined ? isCsvHeader(line) : looksLike === "csv")
    return "The body is CSV. Send one JSON object per line, or use format=csv with a header that contains $time.";
  if (looksLike !== undefined && looksLike !== "ndjson") return otherLog(looksLike);
  return undefined;
}

/** The columns without which no row of a format has an event. */
const COLUMNS: Partial<Record<ImportFormat, readonly string[]>> = {
  csv: ["$time"],
  "docker-dvp": ["action", "timestamp"],
  "scarf-csv": ["id", "type", "time"],
};

const SEPARATORS = [
  [";", "semicolons"],
  ["\t", "tabs"],
  ["|", "vertical bars"],
] as const;

function notTable(line: string, format: ImportFormat): string | undefined {
  if (hasOpenQuote(line))
    return "A quote in the header is not closed on its line. Column names must not contain line breaks.";
  const names = namesOf(line, ",").map((name) => (format === "csv" ? name : columnName(name)));
  const missing = COLUMNS[format]?.find((column) => !names.includes(column));
  if (missing === undefined) return undefined;
  const separator = line.includes(",") ? undefined : SEPARATORS.find(([mark]) => line.includes(mark))?.[1];
  if (separator !== undefined)
    return `The header uses ${separator} as separators. Separate columns with commas and include ${missing}.`;
  return `The first line of the body must be a header: column names separated by commas, including ${missing}.`;
}

function hasOpenQuote(line: string): boolean {
  return /(?:^|,)\s*"/.test(line) && (line.match(/"/g)?.length ?? 0) % 2 === 1;
}

function notObjects(line: string, format: ImportFormat): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike !== undefined && looksLike !== format) return otherLog(looksLike);
  return (unshipLine(line) ?? "{").startsWith("{")
    ? undefined
    : `Lines of the format ${format} must be JSON objects.`;
}

function notLog(line: string, format: ImportFormat): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike !== undefined) return looksLike === format ? undefined : otherLog(looksLike);
  const isObject = (unshipLine(line) ?? "").startsWith("{");
  return isObject ? `Lines of the format ${format} are not JSON objects.` : undefined;
}

function otherLog(format: ImportFormat): string {
  return `The body looks like ${format}. Send it with format=${format}.`;
}
