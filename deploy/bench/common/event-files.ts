import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { EventMix } from "../../demo/event-mix.js";
import { generateBody, generateLines } from "../../demo/generate-events.js";

/** The same lines in three forms. */
export interface EventFiles extends AsyncDisposable {
  plain: EventFile;
  /** As `gzip` packs them. */
  gzip: EventFile;
  /** Only those that are JSON objects, which are more than 99 of 100, none of them blank. */
  objects: EventFile;
}

export interface EventFile {
  path: string;
  bytes: number;
}

export interface EventFilesOptions {
  events: number;
  seed: number;
  /** Of a file package, whose events have custom variables. */
  packageId: string;
}

// Two months, so two partitions; always the same ones, so that the same seed is the same file on any day.
const FROM = "2025-01-15";
const DAYS = 30;

/** Writes the files into the folder; disposing of them gives the disk back. */
export async function writeEventFiles(
  folder: string,
  { events, seed, packageId }: EventFilesOptions,
): Promise<EventFiles> {
  const [plain, gzip, objects] = NAMES.map((name) => join(folder, name)) as [string, string, string];
  const mix = mixOf({ events, seed, packageId });
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

/** Only the gzip file, for whoever has no peer. */
export async function writeGzipFile(path: string, options: EventFilesOptions): Promise<EventFile> {
  await pipeline(Readable.from(generateBody(mixOf(options))), createGzip(), createWriteStream(path));
  return sized(path);
}

export function mixOf({ events, seed, packageId }: EventFilesOptions): EventMix {
  const packages = [{ id: packageId, libraryType: "other" as const }];
  return { seed, count: events, packages, from: FROM, days: DAYS };
}

const NAMES = ["events.ndjson", "events.ndjson.gz", "objects.ndjson"] as const;
const BLOCK_CHARACTERS = 64 * 1024;

export function* objectBlocks(lines: Iterable<string>): Generator<Buffer> {
  let held = "";
  for (const line of lines) {
    if (!isObject(line)) continue;
    held += `${line}\n`;
    if (held.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(held);
    held = "";
  }
  if (held.length > 0) yield Buffer.from(held);
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
