import { parse } from "csv-parse/sync";
import { LINE_BYTES_MAX } from "../../schemas/records/import-line.js";
import { splitLines } from "./split-lines.js";

/** The lines of the file that a row spans. */
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
