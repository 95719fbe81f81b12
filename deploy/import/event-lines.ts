import { StringDecoder } from "node:string_decoder";
import { parse } from "csv-parse/sync";
import type { RouteTemplate } from "../../ingest/routing/url-template.js";
import { LINE_BYTES_MAX } from "../../schemas/records/import-line.js";
import { type ReadLine, cloudfrontLog, combinedLog, eventOf, idOf, s3Log } from "./access-logs.js";

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
 * One import line for each line of the file, so that the import's log counts as the file does. What is not of
 * the format stays as it is: the server refuses it, with its text. A line without an event becomes blank.
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

type Row = readonly string[];

/**
 * CSV (RFC 4180) with a header, whose names are the keys, as import lines: one for each line of the file. An empty cell
 * is no key, and a row of empty cells a blank line. A row that cannot be read, or has another number of cells than the
 * header, stays as it is: the server refuses it. A row over several lines is followed by as many blank lines.
 */
export async function* csvLines(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let keys: readonly string[] | undefined;
  for await (const rows of blocksOf(rowsOf(splitLines(source, LINE_BYTES_MAX + 1))))
    for (const [at, cells] of readRows(rows).entries()) {
      const row = rows[at] ?? [];
      yield keys === undefined ? "" : lineOf(keys, cells, row);
      keys ??= cells?.map((name) => name.trim()) ?? [];
      yield* row.slice(1).map(() => "");
    }
}

/** A quote that is never closed makes a row of each line. */
async function* rowsOf(lines: AsyncIterable<string>): AsyncGenerator<Row> {
  let open: string[] = [];
  let characters = 0;
  for await (const line of lines) {
    const isWhole = quotesIn(line) % 2 === 0;
    if (open.length === 0 && isWhole) {
      yield [line];
      continue;
    }
    const isClosed = open.length > 0 && !isWhole;
    open.push(line);
    characters += line.length;
    if (!isClosed && characters <= LINE_BYTES_MAX) continue;
    yield* isClosed ? [open] : open.map((each) => [each]);
    open = [];
    characters = 0;
  }
  yield* open.map((each) => [each]);
}

function quotesIn(line: string): number {
  return line.split('"').length - 1;
}

/** To read a thousand rows at once takes a tenth of the time. */
const ROWS_PER_BLOCK = 1_000;

async function* blocksOf(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let block: Row[] = [];
  for await (const row of rows) {
    block.push(row);
    if (block.length < ROWS_PER_BLOCK) continue;
    yield block;
    block = [];
  }
  yield block;
}

/** The cells of each row; undefined if it cannot be read. One such row would take the next ones with it. */
function readRows(rows: readonly Row[]): (string[] | undefined)[] {
  const together = readCells(rows.map(textOf).join("\n"));
  if (together?.length === rows.length) return together;
  return rows.map((row) => readCells(textOf(row))?.[0]);
}

function textOf(row: Row): string {
  return row.join("\n");
}

function readCells(text: string): string[][] | undefined {
  try {
    return parse(text, OPTIONS);
  } catch {
    return undefined;
  }
}

const OPTIONS = {
  bom: true,
  record_delimiter: "\n",
  relax_column_count: true,
  // A quote within a cell that has none around it is a character.
  relax_quotes: true,
} as const;

function lineOf(keys: readonly string[], cells: string[] | undefined, row: Row): string {
  if (cells?.length !== keys.length) return row.join(" ");
  const filled = keys.flatMap((key, at) => (cells[at] === "" ? [] : [[key, cells[at]] as const]));
  return filled.length === 0 ? "" : JSON.stringify(Object.fromEntries(filled));
}

/** The lines of UTF-8 text, without their ends (`\n` or `\r\n`). The rest of a line above `charactersMax` is dropped. */
async function* splitLines(source: AsyncIterable<Buffer>, charactersMax: number): AsyncGenerator<string> {
  const decoder = new StringDecoder();
  let rest = "";
  for await (const part of source) {
    const lines = (rest + decoder.write(part)).split("\n");
    rest = (lines.pop() ?? "").slice(0, charactersMax);
    for (const line of lines) yield trimmed(line, charactersMax);
  }
  rest += decoder.end();
  if (rest !== "") yield trimmed(rest, charactersMax);
}

function trimmed(line: string, charactersMax: number): string {
  return (line.endsWith("\r") ? line.slice(0, -1) : line).slice(0, charactersMax);
}
