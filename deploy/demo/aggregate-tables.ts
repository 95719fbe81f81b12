import { type AggregateV1, type Breakdown } from "../../schemas/contracts/aggregate.js";
import { BREAKDOWN_LIST } from "../../schemas/contracts/breakdowns.js";
import { numbered } from "../../schemas/records/numbered.js";

export interface TableOptions {
  rowsMax: number;
}

/** Formats the aggregates of one package as plain text: a table for each breakdown with lines, largest sums first. */
export function aggregateTables(lines: readonly AggregateV1[], { rowsMax }: TableOptions): string {
  const totalFirst = [...BREAKDOWN_LIST].sort((a, b) => Number("values" in a) - Number("values" in b));
  return totalFirst
    .map((breakdown) => ({ breakdown, found: lines.filter((line) => line.breakdown === breakdown.name) }))
    .filter(({ found }) => found.length > 0)
    .map(({ breakdown, found }) => {
      const rows = "values" in breakdown ? valueRows(found, breakdown) : dayRows(found);
      return `  ${breakdown.title}\n${table(rows, { rowsMax })}`;
    })
    .join("\n");
}

type Counted = Extract<(typeof BREAKDOWN_LIST)[number], { values: unknown }>;

type Row = [label: string, total: number, note: string];

function dayRows(lines: readonly AggregateV1[]): Row[] {
  return [...lines]
    .reverse()
    .map(({ date, total, unique_total }) => [date, total, numbered(unique_total ?? 0, "unique IP")]);
}

function valueRows(lines: readonly AggregateV1[], breakdown: Counted): Row[] {
  const sums = new Map<string, number>();
  for (const line of lines) {
    const label = labelOf(line, breakdown);
    sums.set(label, (sums.get(label) ?? 0) + line.total);
  }
  const all = [...sums.values()].reduce((sum, total) => sum + total, 0);
  return [...sums]
    .sort(([, left], [, right]) => right - left)
    .map(([label, total]) => [label, total, `${((100 * total) / all).toFixed(1)} %`]);
}

function labelOf(line: AggregateV1, { name, values }: Counted): string {
  const [first, ...others] = values.map(({ field }) => line[field]).filter((value) => value !== undefined);
  return [first, ...others.map(DETAILS[name] ?? ((detail) => ` ${detail}`))].join("");
}

/** How the second value is written behind the first, where it is not a word of its own. */
const DETAILS: { [name in Breakdown]?: (detail: string) => string } = {
  company: (domain) => ` (${domain})`,
  cloud_provider: (domain) => ` (${domain})`,
  variable: (value) => ` = ${value}`,
};

const LABEL_WIDTH = 52;

function table(rows: readonly Row[], { rowsMax }: TableOptions): string {
  const shown = rows.slice(0, rowsMax).map(([label, total, note]) => {
    const cut = label.length > LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 1)}…` : label;
    return `    ${cut.padEnd(LABEL_WIDTH)} ${String(total).padStart(8)}  ${note}\n`;
  });
  const more = rows.length - shown.length;
  return shown.join("") + (more > 0 ? `    ... and ${more} more\n` : "");
}
