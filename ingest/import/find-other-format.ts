import { columnName, guessFormat, isCsvHeader, namesOf } from "../../schemas/records/guess-format.js";
import { type ImportFormat, linesOf } from "../../schemas/records/import-format.js";
import { isBlank, withoutByteOrderMark } from "../../schemas/records/import-line.js";
import { findPacking, type Packing } from "./open-body.js";
import { skipBlankLines } from "./skip-blank-lines.js";

const PACKED: Partial<Record<Packing, string>> = {
  gzip: "The body is packed with gzip: send it with Content-Encoding: gzip.",
  zstd: "The body is packed with zstd: unpack it, or send it with Content-Encoding: zstd where that is supported.",
  zip: "The body is a zip file: unpack it, and pack its lines with gzip if they should be packed.",
};

interface Claimed {
  format: ImportFormat;
  contentType: string;
}

/** Why a body that begins so is plainly not of the format, and what to do; undefined where it may be. */
export function findOtherFormat(head: Buffer, { format, contentType }: Claimed): string | undefined {
  const packing = findPacking(head);
  const packed = packing && PACKED[packing];
  if (packed !== undefined) return packed;
  const { rest } = skipBlankLines(head);
  if (isBlank(withoutByteOrderMark(rest))) return undefined;
  const [first = ""] = rest.toString().split("\n", 1);
  const line = first.replace(/^\ufeff/, "").trimStart();
  if (isArray(line, format))
    return "The body is a JSON array: send one object a line. `jq -c '.[]'` turns the array into lines.";
  if (format === "ndjson") return notNdjson(line, contentType);
  return NOT_OF[linesOf(format)](line, format);
}

/** A line of a log may begin with a bracket, that of an address or a time. */
function isArray(line: string, format: ImportFormat): boolean {
  return linesOf(format) === "texts" ? /^\[\s*(?:\{|$)/.test(line) : line.startsWith("[");
}

const NOT_OF = { rows: notTable, objects: notObjects, texts: notLog } as const;

function notNdjson(line: string, contentType: string): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike === undefined ? isCsvHeader(line) : looksLike === "csv")
    return "The body is CSV: send one JSON object a line, or the rows with format=csv, where the header has $time.";
  if (looksLike !== undefined && looksLike !== "ndjson") return otherLog(looksLike);
  if (contentType.startsWith("application/x-www-form-urlencoded") && /^\{.*\}\s*\{/.test(line))
    return "The lines were joined, as `curl -d @file` does: send them with `-T file` or `--data-binary @file`.";
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
  if (/\r(?!$)/.test(line))
    return "The lines of the body end with CR alone: send them with LF or CRLF at their ends.";
  const names = namesOf(line, ",").map((name) => (format === "csv" ? name : columnName(name)));
  const missing = COLUMNS[format]?.find((column) => !names.includes(column));
  if (missing === undefined) return undefined;
  const separator = line.includes(",") ? undefined : SEPARATORS.find(([mark]) => line.includes(mark))?.[1];
  if (separator !== undefined)
    return `The header has ${separator} between its names: send header and rows with commas, and ${missing} among the names.`;
  return `The first line of the body is its header: names between commas, and ${missing} among them.`;
}

function notObjects(line: string, format: ImportFormat): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike !== undefined && looksLike !== format) return otherLog(looksLike);
  return line.startsWith("{") ? undefined : `A line of the format ${format} is a JSON object.`;
}

function notLog(line: string, format: ImportFormat): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike !== undefined) return looksLike === format ? undefined : otherLog(looksLike);
  return line.startsWith("{") ? `A line of the format ${format} is no JSON object.` : undefined;
}

function otherLog(format: ImportFormat): string {
  return `The body looks like ${format}: send it with format=${format}.`;
}
