/** The Markdown of our own pages: headings, paragraphs, lists, tables, blocks of code, and comments, which are left out. */
export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "paragraph"; text: string }
  | { kind: "code"; language: string; text: string }
  | { kind: "table"; head: string[]; rows: string[][] }
  /** `start` is the number of the first item; absent if they have none. */
  | { kind: "list"; start?: number; items: Block[][] };

/** Parses text that we wrote ourselves: whatever it does not know stays as it is, in a paragraph. */
export function parseMarkdown(text: string): Block[] {
  const lines = text.replace(/^ *<!--[\s\S]*?-->\n/gm, "").split("\n");
  const blocks: Block[] = [];
  while (lines.length > 0) {
    if (lines[0]?.trim() === "") lines.shift();
    else blocks.push(takeBlock(lines));
  }
  return blocks;
}

/** The name of a heading in addresses, as GitHub makes it. */
export function headingId(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

const FENCE = /^```(\w*)/;
const HEADING = /^(#+) (.+)$/;
const ITEM = /^(-|\d+\.) +/;

function takeBlock(lines: string[]): Block {
  const [first = ""] = lines;
  const [, marks, title = ""] = HEADING.exec(first) ?? [];
  if (marks !== undefined) {
    lines.shift();
    return { kind: "heading", level: marks.length, text: title };
  }
  const [fence, language = ""] = FENCE.exec(first) ?? [];
  if (fence !== undefined) return takeCode(lines, language);
  if (first.startsWith("|")) return takeTable(lines);
  if (ITEM.test(first)) return takeList(lines);
  const isText = (line: string) =>
    line.trim() !== "" && ![FENCE, HEADING, ITEM].some((mark) => mark.test(line));
  return { kind: "paragraph", text: [lines.shift() ?? "", ...takeWhile(lines, isText)].join("\n") };
}

function takeCode(lines: string[], language: string): Block {
  lines.shift();
  const text = takeWhile(lines, (line) => !FENCE.test(line)).join("\n");
  lines.shift();
  return { kind: "code", language, text };
}

function takeTable(lines: string[]): Block {
  const [head = [], , ...rows] = takeWhile(lines, (line) => line.startsWith("|")).map(cellsOf);
  return { kind: "table", head, rows };
}

/** A bar in a cell is written with a backslash. */
function cellsOf(line: string): string[] {
  const cells = line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function takeList(lines: string[]): Block {
  const [number] = /^\d+/.exec(lines[0] ?? "") ?? [];
  const isOrdered = number !== undefined;
  const isOfList = (line: string) => ITEM.test(line) && /^\d/.test(line) === isOrdered;
  const items: Block[][] = [];
  while (isOfList(lines[0] ?? "")) items.push(takeItem(lines));
  return { kind: "list", ...(isOrdered && { start: Number(number) }), items };
}

/** The lines of an item are indented as far as its text; there may be empty ones between them. */
function takeItem(lines: string[]): Block[] {
  const first = lines.shift() ?? "";
  const [mark = ""] = ITEM.exec(first) ?? [];
  const indent = " ".repeat(mark.length);
  const rest = takeWhile(
    lines,
    (line, next) => line.startsWith(indent) || (line === "" && next.startsWith(indent)),
  );
  if (lines[0] === "" && ITEM.test(lines[1] ?? "")) lines.shift();
  return parseMarkdown([first.slice(mark.length), ...rest.map((line) => line.slice(mark.length))].join("\n"));
}

function takeWhile(lines: string[], isWanted: (line: string, next: string) => boolean): string[] {
  const end = lines.findIndex((line, index) => !isWanted(line, lines[index + 1] ?? ""));
  return lines.splice(0, end < 0 ? lines.length : end);
}
