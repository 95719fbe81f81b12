import { formatFull } from "../../../web/parts/format.js";
import type { Chart, Message } from "../message.js";

const WIDTH = 76;
const BAR = 20;

/** A message as text: of a mail, and of its preview. Lines of `ends` stand at the end. */
export function messageText(message: Message, ends: readonly string[] = []): string {
  const { subject, lines, charts, link, small } = message;
  const tiles = message.tiles.map(({ label, value, change }) => ({ label, value, note: change ?? "" }));
  const parts = [
    [subject, "=".repeat(Math.min(WIDTH, subject.length))],
    ...lines.map((line) => wrapped(line)),
    ...(tiles.length > 0 ? [alignedRows(tiles)] : []),
    ...charts.map((chart) => [chart.title, ...chartRows(chart)]),
  ].map((part) => part.map(unlinked));
  const all = [
    ...parts,
    ...(link === undefined ? [] : [[`${link.label}:`, link.url]]),
    ["-- ", ...small.flatMap((line) => wrapped(line)).map(unlinked), ...ends],
  ];
  return `${all.map((part) => part.join("\n")).join("\n\n")}\n`;
}

/** Mail programs make links of texts that look like addresses. Joiners of no width keep names of others from being one. */
export function unlinked(text: string): string {
  return text.replaceAll("://", ":\u2060//").replace(/\.(?=\p{L})/gu, ".\u2060");
}

/** Rows of a chart in columns: name, number, bar, note. */
export function chartRows({ rows }: Chart): string[] {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return alignedRows(
    rows.map(({ label, value, note = "" }) => ({
      label,
      value: formatFull(value),
      note: `${"#".repeat(Math.round((value / most) * BAR)).padEnd(note === "" ? 0 : BAR + 2)}${note}`,
    })),
  );
}

interface Row {
  label: string;
  value: string;
  note: string;
}

function alignedRows(rows: readonly Row[]): string[] {
  const labels = Math.max(...rows.map(({ label }) => label.length));
  const values = Math.max(...rows.map(({ value }) => value.length));
  return rows.map(({ label, value, note }) =>
    `  ${label.padEnd(labels)}  ${value.padStart(values)}  ${note}`.trimEnd(),
  );
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
