import { type AggregateV1, type Breakdown, BREAKDOWNS } from "../../schemas/contracts/aggregate.js";

/** What a person wants to know of each breakdown. */
const QUESTIONS: Record<Breakdown, string> = {
  total: "How many downloads a day, and from how many addresses?",
  company: "Which companies?",
  cloud_provider: "Which clouds?",
  country: "Which countries?",
  platform: "Which platforms?",
  version: "Which versions?",
  client: "Which clients?",
  variable: "Which values of custom variables?",
};

export interface TableOptions {
  /** Lines of one breakdown. */
  rowsMax: number;
}

/** The aggregates of one package as plain text: a table for each breakdown that has any, the largest sums first. */
export function aggregateTables(lines: readonly AggregateV1[], { rowsMax }: TableOptions): string {
  const order: Breakdown[] = ["total", ...BREAKDOWNS.filter((breakdown) => breakdown !== "total")];
  return order
    .map((breakdown) => ({ breakdown, found: lines.filter((line) => line.breakdown === breakdown) }))
    .filter(({ found }) => found.length > 0)
    .map(({ breakdown, found }) => {
      const rows = breakdown === "total" ? dayRows(found) : valueRows(found);
      return `  ${QUESTIONS[breakdown]}\n${table(rows, { rowsMax })}`;
    })
    .join("\n");
}

/** A line of a table: what it is about, a number, and a note. */
type Row = [label: string, total: number, note: string];

function dayRows(lines: readonly AggregateV1[]): Row[] {
  return lines.map(({ date, total, unique_total }) => [date, total, `${unique_total ?? 0} addresses`]);
}

/** Sums over all days. */
function valueRows(lines: readonly AggregateV1[]): Row[] {
  const sums = new Map<string, number>();
  for (const line of lines) sums.set(labelOf(line), (sums.get(labelOf(line)) ?? 0) + line.total);
  const all = [...sums.values()].reduce((sum, total) => sum + total, 0);
  return [...sums]
    .sort(([, left], [, right]) => right - left)
    .map(([label, total]) => [label, total, `${((100 * total) / all).toFixed(1)} %`]);
}

function labelOf(line: AggregateV1): string {
  switch (line.breakdown) {
    case "company":
      return withDomain(line.company_name, line.company_domain);
    case "cloud_provider":
      return withDomain(line.cloud_provider_name, line.cloud_provider_domain);
    case "client":
      return [line.client, line.client_version].filter(Boolean).join(" ");
    case "variable":
      return `${line.variable} = ${line.value}`;
    case "country":
    case "platform":
    case "version":
      return line[line.breakdown] ?? "";
    case "total":
      return line.date;
  }
}

function withDomain(name = "", domain?: string): string {
  return domain === undefined ? name : `${name} (${domain})`;
}

const LABEL_WIDTH = 52;

function table(rows: readonly Row[], { rowsMax }: TableOptions): string {
  const shown = rows.slice(0, rowsMax).map(([label, total, note]) => {
    const cut = label.length > LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 1)}…` : label;
    return `    ${cut.padEnd(LABEL_WIDTH)} ${String(total).padStart(8)}  ${note}\n`;
  });
  const more = rows.length - shown.length;
  return shown.join("") + (more > 0 ? `    ... and ${more} more\n` : "");
}
