import { guessFormat, isCsvHeader, namesOf } from "../../schemas/records/guess-format.js";
import { type ImportFormat, isAccessLog } from "../../schemas/records/import-format.js";
import { findPacking, type Packing } from "./open-body.js";

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
  const [line = ""] = head
    .toString()
    .replace(/^\ufeff/, "")
    .trimStart()
    .split("\n", 1);
  if (line === "") return undefined;
  if (line.startsWith("["))
    return "The body is a JSON array: send one object a line. `jq -c '.[]'` turns the array into lines.";
  if (format === "ndjson") return notNdjson(line, contentType);
  if (format === "csv") return notCsv(line);
  return isAccessLog(format) ? notLog(line, format) : undefined;
}

function notNdjson(line: string, contentType: string): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike === "csv" || isCsvHeader(line))
    return "The body is CSV: send one JSON object a line, or the rows with format=csv, where the header has $time.";
  if (looksLike !== undefined && looksLike !== "ndjson") return otherLog(looksLike);
  if (contentType.startsWith("application/x-www-form-urlencoded") && /^\{.*\}\s*\{/.test(line))
    return "The lines were joined, as `curl -d @file` does: send them with `-T file` or `--data-binary @file`.";
  return undefined;
}

function notCsv(line: string): string | undefined {
  if (namesOf(line, ",").includes("$time")) return undefined;
  return "The first line of a CSV body is its header: names between commas, and $time among them.";
}

function notLog(line: string, format: ImportFormat): string | undefined {
  const looksLike = guessFormat(line);
  if (looksLike === undefined || looksLike === format) {
    return line.startsWith("{") ? otherFormat("JSON", "ndjson") : undefined;
  }
  if (looksLike === "csv") return otherFormat("CSV", "csv");
  return looksLike === "ndjson" ? otherFormat("NDJSON", "ndjson") : otherLog(looksLike);
}

function otherFormat(name: string, format: ImportFormat): string {
  return `The body is ${name}: send it with format=${format}.`;
}

function otherLog(format: ImportFormat): string {
  return `The body looks like an access log of the format ${format}: send it with format=${format}.`;
}
