import { readFileSync } from "node:fs";
import type { DecodedLine, LineFields } from "../../../../../enrich/lines/decode-line.js";
import { NO_EVENT } from "../../../../../enrich/lines/formats/line-format.js";
import { openDecoder } from "../../../../../enrich/lines/open-decoder.js";
import { numberLines } from "../../../../../enrich/lines/split-lines.js";
import type { LineFormat } from "../../../../../schemas/records/import-format.js";
import type { RawChunk } from "../../../../../schemas/records/raw-chunk.js";
import { chunkOf } from "../chunk-of.js";

/** Of each line that is not blank: the fields of its event, the message that refuses it, or `skipped`. */
export type Read = Record<string, unknown> | string;

export function decodeBody(
  text: string,
  format: Partial<LineFormat> & Pick<LineFormat, "format">,
  over: Partial<RawChunk> = {},
): Read[] {
  const chunk = chunkOf(text, { ...format, ...over, ...(over.artifactKind === "any" && { artifactId: "" }) });
  const decode = openDecoder(chunk);
  return [...numberLines(chunk.lines, 1)].map((line) => readOf(decode(line)));
}

function readOf(decoded: DecodedLine | typeof NO_EVENT): Read {
  if (decoded === NO_EVENT) return "skipped";
  return "fault" in decoded ? decoded.fault.message : objectOf(decoded.fields);
}

/** As a line of NDJSON would have them. */
function objectOf({ otherNames, otherValues, ...named }: LineFields): Record<string, unknown> {
  const set = Object.entries(named).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries([...set, ...otherNames.map((name, at) => [name, otherValues[at]] as const)]);
}

export function fixture(name: string): string {
  return readFileSync(new URL(`../../../../fixtures/${name}`, import.meta.url), "utf8");
}
