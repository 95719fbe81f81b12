import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type EventMix, generateBody, generateLines } from "../../../deploy/demo/generate-events.js";
import { evenAddresses } from "./even-addresses.js";

/** The same lines in three forms. */
export interface EventFiles extends AsyncDisposable {
  plain: EventFile;
  /** Compressed as by `gzip`. */
  gzip: EventFile;
  /** Only the lines that are JSON objects, more than 99 %, without blank lines. */
  objects: EventFile;
}

export interface EventFile {
  path: string;
  bytes: number;
}

export interface EventFilesOptions {
  events: number;
  seed: number;
  /** File packages, because their events have custom variables. With several, every line names its own. */
  packageIds: readonly string[];
  /** Share of lines with the `$unique_id` of an earlier line; default 0.1. */
  overrideShare?: number;
  /** Client addresses, all equally likely; absent: few, of which some are far more likely than others. */
  addresses?: number;
  /** Number of the first line. An import that continues the numbers of another also overrides its events. */
  startAt?: number;
}

// Spans two months and so two partitions. Fixed dates, so that a seed gives the same file on any day.
const FROM = "2025-01-15";
const DAYS = 30;

/** Writes the files into the folder. Disposal deletes them. */
export async function writeEventFiles(folder: string, options: EventFilesOptions): Promise<EventFiles> {
  const [plain, gzip, objects] = NAMES.map((name) => join(folder, name)) as [string, string, string];
  const mix = mixOf(options);
  await pipeline(Readable.from(generateBody(mix)), createWriteStream(plain));
  await pipeline(createReadStream(plain), createGzip(), createWriteStream(gzip));
  await pipeline(Readable.from(objectBlocks(generateLines(mix))), createWriteStream(objects));
  return {
    plain: await sized(plain),
    gzip: await sized(gzip),
    objects: await sized(objects),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([plain, gzip, objects].map((path) => rm(path)))),
  };
}

/** Writes only the gzip file, for benchmarks that need no other. */
export async function writeGzipFile(
  path: string,
  { gzipLevel, ...options }: EventFilesOptions & { gzipLevel?: number },
): Promise<EventFile> {
  const body = Readable.from(generateBody(mixOf(options)));
  await pipeline(body, createGzip({ level: gzipLevel }), createWriteStream(path));
  return sized(path);
}

export function mixOf({ events, packageIds, addresses, ...rest }: EventFilesOptions): EventMix {
  const packages = packageIds.map((id) => ({ id, libraryType: "other" as const }));
  const drawn = addresses === undefined ? {} : { addressOf: evenAddresses(addresses) };
  return { ...rest, ...drawn, count: events, packages, from: FROM, days: DAYS };
}

const NAMES = ["events.ndjson", "events.ndjson.gz", "objects.ndjson"] as const;
const BLOCK_CHARACTERS = 64 * 1024;

export function* objectBlocks(lines: Iterable<string>): Generator<Buffer> {
  let block = "";
  for (const line of lines) {
    if (!isObject(line)) continue;
    block += `${line}\n`;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(block);
    block = "";
  }
  if (block.length > 0) yield Buffer.from(block);
}

function isObject(line: string): boolean {
  if (!line.startsWith("{")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

async function sized(path: string): Promise<EventFile> {
  return { path, bytes: (await stat(path)).size };
}
