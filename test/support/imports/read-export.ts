import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { tableFromIPC } from "apache-arrow";
import { parse } from "csv-parse";
import { parquetReadObjects } from "hyparquet";
import { EXPECTED_COLUMNS, type ExpectedRow } from "./hostile-events.js";
import { get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

/** Readers of exports that know nothing of this program: a file in, sorted rows out, each as `rowText` has it; `seen` is what they can see of rows. */
export const READERS = {
  "csv-parse": { ending: "csv", read: readCsv, seen: all },
  hyparquet: { ending: "parquet", read: readParquet, seen: withoutMarks },
  "apache-arrow": { ending: "arrow", read: readArrow, seen: withoutMarks },
  "JSON.parse": { ending: "ndjson", read: readNdjson, seen: all },
} as const;

function all(rows: readonly string[]): readonly string[] {
  return rows;
}

/** These take U+FEFF at the beginning of a text for the mark of a byte order, and drop it. */
function withoutMarks(rows: readonly string[]): readonly string[] {
  return rows.map((row) => row.replaceAll(/(?<=^\[|",)"\ufeff/g, '"')).sort();
}

type Row = Record<string, unknown>;

async function readCsv(path: string): Promise<string[]> {
  const rows: string[] = [];
  for await (const row of openCsv(path)) rows.push(rowText(row));
  return rows.sort();
}

/** Its rows, as they are. */
export function openCsv(path: string): AsyncIterable<Record<string, string>> {
  return createReadStream(path).pipe(parse({ columns: true, relax_column_count: false, bom: false }));
}

async function readParquet(path: string): Promise<string[]> {
  const file = new Uint8Array(await readFile(path)).buffer;
  return (await parquetReadObjects({ file })).map(rowText).sort();
}

async function readArrow(path: string): Promise<string[]> {
  const rows = tableFromIPC(await readFile(path)).toArray() as { toJSON(): Row }[];
  return rows.map((row) => rowText(row.toJSON())).sort();
}

async function readNdjson(path: string): Promise<string[]> {
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => rowText(JSON.parse(line) as Row)).sort();
}

const PYTHON = `
import csv, json, sys
csv.field_size_limit(2**31 - 1)
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file, strict=True):
        sys.stdout.write(json.dumps(row) + "\\n")
`;

/** Python's own reader. */
export async function readWithPython(path: string): Promise<string[]> {
  const args = ["-c", PYTHON, path];
  const child = spawn("python3", args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const rows: string[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    rows.push(rowText(JSON.parse(line) as Row));
  if ((await closed)[0] !== 0) throw new Error("python3 could not read the file");
  return rows.sort();
}

export async function hasPython(): Promise<boolean> {
  const asked = promisify(execFile)("python3", ["--version"]);
  return asked.then(
    () => true,
    () => false,
  );
}

/** The columns that are compared. */
export function rowText(row: Row | ExpectedRow): string {
  return JSON.stringify(EXPECTED_COLUMNS.map((name) => textOf(name, (row as Row)[name])));
}

/** Formats that know of times and numbers hold them as such, with as many digits as they like. */
function textOf(name: (typeof EXPECTED_COLUMNS)[number], value: unknown): unknown {
  if (name === "origin_latitude" || name === "origin_longitude") return degreesText(value);
  const millis = value instanceof Date ? value.getTime() : value;
  return typeof millis === "number" ? new Date(millis).toISOString().replace("Z", "000Z") : value;
}

/** Rounds the number that is stored, not the one that a text has of it. */
function degreesText(value: unknown): string {
  return value === null || value === "" ? "" : Math.fround(Number(value)).toFixed(3);
}

interface SavedExport {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
}

/** Writes an answer as it is into a file, once it is there whole; rejects when the connection breaks. */
export async function saveExport(
  api: ApiClient,
  path: string,
  { file, headers = {} }: { file: string; headers?: Record<string, string> },
): Promise<SavedExport> {
  const sent = { Authorization: `Bearer ${api.token}`, ...headers };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(new URL(path, api.url), { headers: sent, agent: false }, resolve).once("error", reject);
  });
  await pipeline(response, createWriteStream(file));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    trailers: response.trailers,
  };
}
