import { numbered } from "../../../schemas/records/numbered.js";
import { parse } from "csv-parse/sync";
import { addVariable, isNamed, LineFields } from "../decode-line.js";
import { error, type LineFault } from "../line-fault.js";
import { NO_EVENT, type OpenFormat } from "./line-format.js";

/**
 * CSV (RFC 4180) whose header names the keys. A row is one line: a line break within quotes costs its lines. An empty
 * cell is no key.
 */
export const csv: OpenFormat = ({ header }) => {
  const keys = namesIn(header);
  return (text) => {
    const cells = readRow(text, keys.length);
    return Array.isArray(cells) ? fieldsOf(keys, cells) : cells;
  };
};

/** The names of a header, without the mark that some systems begin a file with. */
export function namesIn(header: string): string[] {
  return cellsOf(header.replace(/^\ufeff/, ""))?.map((name) => name.trim()) ?? [];
}

/** The cells of a row, as many as the header has; no event where all are empty. */
export function readRow(text: string, columns: number): string[] | { fault: LineFault } | typeof NO_EVENT {
  const cells = cellsOf(text);
  if (cells === undefined) return OPEN_QUOTE;
  if (text.includes("\r") && text.replaceAll(/"[^"]*"/g, "").includes("\r")) return CR_ALONE;
  if (cells.length !== columns) return { fault: otherColumns(cells.length, columns) };
  return cells.every((cell) => cell === "") ? NO_EVENT : cells;
}

const OPEN_QUOTE = {
  fault: error(
    "failed-to-decode",
    "Invalid CSV row: a quote is not closed on its line; cells must not contain line breaks",
  ),
};

const CR_ALONE = {
  fault: error("failed-to-decode", "Invalid CSV row: it contains a CR; lines must end with LF or CRLF"),
};

function otherColumns(cells: number, columns: number): LineFault {
  return error(
    "failed-to-decode",
    `Invalid CSV row: it has ${numbered(cells, "cell")}, the header has ${columns}`,
  );
}

/** Undefined where a quote is not closed. */
export function cellsOf(text: string): string[] | undefined {
  if (!text.includes('"')) return text.split(",");
  try {
    return parse(text, OPTIONS)[0];
  } catch {
    return undefined;
  }
}

const OPTIONS = {
  record_delimiter: "\n",
  relax_column_count: true,
  // A quote within a cell that has none around it is a character.
  relax_quotes: true,
} as const;

function fieldsOf(keys: readonly string[], cells: readonly string[]): LineFields {
  const fields = new LineFields();
  for (const [at, cell] of cells.entries()) {
    const key = keys[at] ?? "";
    if (cell === "") continue;
    if (isNamed(key)) fields[key] = cell;
    else addVariable(fields, key, cell);
  }
  return fields;
}
