import { columnName } from "../../../schemas/records/guess-format.js";
import { namesIn, readRow } from "./csv.js";
import type { LineFields } from "../decode-line.js";
import type { NO_EVENT, ReadLine, Rejected } from "./line-format.js";

/** The cell of a row by the name of its column; empty where there is none. */
export type Cell = (column: string) => string;

/** A CSV of known columns, in any order, whatever the case of their names and with spaces for underscores. */
export function table(
  header: string,
  fieldsOf: (cell: Cell, text: string, line: number) => LineFields | Rejected | typeof NO_EVENT,
): ReadLine {
  const names = namesIn(header).map(columnName);
  const places = new Map(names.map((name, at) => [name, at]));
  return (text, line) => {
    const cells = readRow(text, names.length);
    if (!Array.isArray(cells)) return cells;
    return fieldsOf((column) => cells[places.get(column) ?? -1] ?? "", text, line);
  };
}
