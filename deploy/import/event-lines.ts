import type { RouteTemplate } from "../../ingest/routing/url-template.js";
import { LINE_BYTES_MAX } from "../../schemas/records/import-line.js";
import { combinedLog } from "./access-logs/combined.js";
import { cloudfrontLog } from "./access-logs/cloudfront.js";
import { eventOf, idOf } from "./access-logs/event-of.js";
import type { ReadLine } from "./access-logs/logged-request.js";
import { s3Log } from "./access-logs/s3.js";
import { csvLines } from "./csv-lines.js";
import { splitLines } from "./split-lines.js";

/** The formats of the files that the command reads. `ndjson` is sent as it is. */
export const IMPORT_FORMATS = ["ndjson", "csv", "combined", "cloudfront", "s3"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

const ACCESS_LOGS: Partial<Record<ImportFormat, () => ReadLine>> = {
  combined: combinedLog,
  cloudfront: cloudfrontLog,
  s3: s3Log,
};

export function isAccessLog(format: ImportFormat): boolean {
  return ACCESS_LOGS[format] !== undefined;
}

export interface Converted {
  /** Lines of an access log that are no downloads: another method, an error, another path. */
  skipped: number;
}

/**
 * The import's lines, one for each line of the file, so that the import's log counts as the file does. A line that is
 * not of the format stays as it is: the server refuses it, with its text. One without an event becomes a blank line.
 */
export async function* eventLines(
  source: AsyncIterable<Buffer>,
  { format, pattern }: { format: ImportFormat; pattern?: RouteTemplate | undefined },
  converted: Converted,
): AsyncGenerator<Buffer> {
  const openLog = ACCESS_LOGS[format];
  const lines =
    openLog === undefined ? csvLines(source) : logLines(source, { readLine: openLog(), pattern }, converted);
  let text = "";
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(text);
    text = "";
  }
  if (text !== "") yield Buffer.from(text);
}

/** One write a line would cost more than the line. */
const BLOCK_CHARACTERS = 64 * 1024;

async function* logLines(
  source: AsyncIterable<Buffer>,
  { readLine, pattern }: { readLine: ReadLine; pattern: RouteTemplate | undefined },
  converted: Converted,
): AsyncGenerator<string> {
  let number = 0;
  for await (const line of splitLines(source, LINE_BYTES_MAX + 1)) {
    number++;
    const request = readLine(line);
    if (request === undefined) {
      yield line;
      continue;
    }
    const event = request === "comment" ? undefined : eventOf(request, pattern);
    if (event === undefined && request !== "comment") converted.skipped++;
    yield event === undefined ? "" : JSON.stringify({ $unique_id: idOf(line, number), ...event });
  }
}
