import type { ImportFormat, LineFormat } from "../../schemas/records/import-format.js";
import { LINE_BYTES_MAX, lineLength, withoutByteOrderMark } from "../../schemas/records/import-line.js";
import { type DecodedLine, decodeLine, type ImportPath, TOO_LONG, withTarget } from "./decode-line.js";
import { caddy } from "./formats/caddy.js";
import { cloudfront } from "./formats/cloudfront.js";
import { combined } from "./formats/combined.js";
import { csv } from "./formats/csv.js";
import { dockerDvp } from "./formats/docker-dvp.js";
import { NO_EVENT, type OpenFormat, type ReadLine } from "./formats/line-format.js";
import { pypiBigquery } from "./formats/pypi-bigquery.js";
import { s3 } from "./formats/s3.js";
import { scarfCsv } from "./formats/scarf-csv.js";
import { traefik } from "./formats/traefik.js";
import { error } from "./line-fault.js";
import type { NumberedLine } from "./split-lines.js";

/** Never throws. */
export type Decode = (numbered: NumberedLine) => DecodedLine | typeof NO_EVENT;

const FORMATS: Record<Exclude<ImportFormat, "ndjson">, OpenFormat> = {
  csv,
  combined,
  cloudfront,
  s3,
  caddy,
  traefik,
  "docker-dvp": dockerDvp,
  "pypi-bigquery": pypiBigquery,
  "scarf-csv": scarfCsv,
};

/** Decodes the lines of one chunk, in order. The format is chosen here, once: lines of NDJSON cost what they always did. */
export function openDecoder(chunk: ImportPath & LineFormat): Decode {
  const { format } = chunk;
  if (format === "ndjson") return (numbered) => decodeLine(numbered, chunk);
  const read = FORMATS[format](chunk);
  const other = { fault: error("failed-to-decode", `Not a valid line of the format ${format}`) };
  return (numbered) => decodeOther(numbered, chunk, read) ?? other;
}

function decodeOther(
  { bytes, line }: NumberedLine,
  path: ImportPath,
  read: ReadLine,
): DecodedLine | typeof NO_EVENT | undefined {
  const length = lineLength(bytes);
  if (length > LINE_BYTES_MAX) return TOO_LONG;
  const sent = bytes.subarray(0, length);
  const fields = read((line === 1 ? withoutByteOrderMark(sent) : sent).toString(), line);
  if (fields === undefined || fields === NO_EVENT || "fault" in fields) return fields;
  return withTarget(fields, path);
}
