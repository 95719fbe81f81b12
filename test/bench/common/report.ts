import { availableParallelism } from "node:os";
import type { BenchResult } from "./benchmark.js";
import { digits, megabytes } from "./format-numbers.js";

export interface Report {
  title: string;
  tables: readonly string[];
  /** Sentences below the tables. */
  notes?: readonly string[];
  json: object;
}

/** The text of a benchmark, and its JSON with three decimals. */
export function report({ title, tables, notes = [], json }: Report): BenchResult {
  const below = notes.length === 0 ? [] : [notes.map((note) => `  ${note}\n`).join("")];
  const round = (_: string, value: unknown) =>
    typeof value === "number" ? Math.round(value * 1000) / 1000 : value;
  return {
    text: [`${title} on ${availableParallelism()} cores\n`, ...tables, ...below].join("\n"),
    json: JSON.parse(JSON.stringify(json, round)) as object,
  };
}

/** Who or what was measured, and its facts as JSON. The name of a fact, or of the group around it, says the unit. */
export type Measured = readonly [name: string, facts: object];

/** A line for each fact, and a column for each of what was measured. */
export function factTable(heading: string, measured: readonly Measured[]): string {
  return textTable(cellsOf(heading, measured));
}

/** A line for each of what was measured, and a column for each fact. */
export function factLines(heading: string, measured: readonly Measured[]): string {
  const cells = cellsOf(heading, measured);
  return textTable((cells[0] ?? []).map((_, column) => cells.map((row) => row[column] ?? "")));
}

function cellsOf(heading: string, measured: readonly Measured[]): string[][] {
  const columns = measured.map(([, facts]) => new Map(shownFacts(facts)));
  const labels = new Set(columns.flatMap((column) => [...column.keys()]));
  return [
    [heading, ...measured.map(([name]) => name)],
    ...[...labels].map((label) => [label, ...columns.map((column) => column.get(label) ?? "")]),
  ];
}

function* shownFacts(facts: object, path: readonly string[] = []): Generator<[label: string, text: string]> {
  for (const [name, value] of Object.entries(facts) as [string, unknown][]) {
    const words = [...path, name];
    if (typeof value === "object" && value !== null) yield* shownFacts(value, words);
    else if (typeof value === "number") yield showNumber(words.join(" ").replaceAll("_", " "), value);
    else if (typeof value === "string") yield [words.join(" "), value];
  }
}

const UNITS: readonly { unit: RegExp; show: (value: number) => string; alone?: string }[] = [
  { unit: /\bratio\b/, show: (value) => value.toFixed(2), alone: "ratio" },
  { unit: /\b(?:mb|megabytes) per second\b/, show: (value) => `${digits(value)} MB/s`, alone: "throughput" },
  { unit: /\bbytes per second\b/, show: (value) => `${megabytes(value)}/s`, alone: "throughput" },
  { unit: /\bper second\b/, show: (value) => `${digits(value)} /s` },
  { unit: /\bus per event\b/, show: (value) => `${digits(value)} µs/event` },
  { unit: /\bcores\b/, show: (value) => `${(value * 100).toFixed(0)} %` },
  { unit: /\bseconds\b/, show: (value) => `${digits(value)} s`, alone: "time" },
  { unit: /\bms\b/, show: (value) => `${digits(value)} ms`, alone: "time" },
  { unit: /\bbytes\b/, show: megabytes, alone: "size" },
];

/** The unit goes from the name to the number: `cpu_seconds` of 2.5 is `CPU` with `2.50 s`. */
function showNumber(words: string, value: number): [label: string, text: string] {
  const {
    unit,
    show,
    alone = words,
  } = UNITS.find(({ unit: each }) => each.test(words)) ?? {
    unit: /^$/,
    show: digits,
  };
  const label = words.replace(unit, "").replaceAll(/ +/g, " ").trim() || alone;
  return [label.replace(/\bcpu\b/, "CPU"), show(value)];
}

/** The first column is left-aligned, the others right-aligned. */
function textTable(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join("  ").trimEnd()}\n`).join("");
}
