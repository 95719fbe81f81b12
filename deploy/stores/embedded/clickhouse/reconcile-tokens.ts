import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../../../process/private-files.js";

/**
 * Makes the deduplication tokens of every table agree with its parts, so that an insert that is repeated under its token
 * completes what a crash or a power cut left of it. ClickHouse writes the token of a part to the deduplication log of the
 * table, then renames the part into place, and syncs neither:
 *
 * - A token without its part would have the repeated insert dropped: the token is removed.
 * - A part without its token, which only a power cut leaves, would be stored twice: it is moved to `detached/`, with every
 *   part that it was merged into. The other sources of such a part are still there, because ClickHouse keeps them for eight
 *   minutes and syncs are seconds apart. Every insert of this program into these tables has a token.
 *
 * Must only run while the server does not.
 *
 * @param dataDir the server's `--path`
 */
export function reconcileTokens(dataDir: string, { afterPowerCut }: { afterPowerCut: boolean }): Reconciled {
  const all: Reconciled = { forgotten: [], detached: [] };
  for (const table of tablesOf(join(dataDir, "store"))) {
    const logs = logsOf(table);
    if (afterPowerCut) all.detached.push(...detachUntokened(table, logs));
    all.forgotten.push(...forgetMissing(table, logs));
  }
  return all;
}

/** The parts that ClickHouse found broken when it started, and moved away. */
export function brokenParts(dataDir: string): string[] {
  return tablesOf(join(dataDir, "store")).flatMap((table) => {
    const detached = join(table, "detached");
    return existsSync(detached) ? readdirSync(detached).filter((name) => name.startsWith("broken")) : [];
  });
}

export interface Reconciled {
  /** Names of missing parts whose tokens were removed. */
  forgotten: string[];
  /** Names of parts that were moved away. */
  detached: string[];
}

const LOGS = "deduplication_logs";

/** Tables of an Atomic database: store/<first digits>/<uuid>. Only those with tokens. */
function tablesOf(store: string): string[] {
  if (!existsSync(store)) return [];
  const entriesOf = (dir: string) => readdirSync(dir).map((name) => join(dir, name));
  return entriesOf(store)
    .flatMap(entriesOf)
    .filter((table) => existsSync(join(table, LOGS)));
}

interface TokenLog {
  file: string;
  number: number;
  /** Whole lines: the operation, the name of a part and its token, between tabs. */
  lines: string[];
  /** Whether the last line was cut short. */
  isCut: boolean;
}

/** The oldest first. ClickHouse removes logs whose tokens it need no longer know. */
function logsOf(table: string): TokenLog[] {
  return readdirSync(join(table, LOGS))
    .flatMap((name) => {
      const number = Number(/^deduplication_log_(\d+)\.txt$/.exec(name)?.[1]);
      if (!Number.isInteger(number)) return [];
      const file = join(table, LOGS, name);
      const lines = readFileSync(file, "utf8").split("\n");
      const rest = lines.pop();
      return { file, number, lines, isCut: rest !== "" };
    })
    .sort((a, b) => a.number - b.number);
}

const ADDED = "1";
/** Inserts that run side by side write their tokens in another order than the numbers of their parts. */
const SIDE_BY_SIDE_MAX = 64;

function detachUntokened(table: string, logs: readonly TokenLog[]): string[] {
  const tokened = new Set(logs.flatMap(({ lines }) => lines.flatMap((line) => addedPart(line)?.min ?? [])));
  const isWhole = logs[0]?.number === 1;
  const oldest = isWhole
    ? 0
    : SIDE_BY_SIDE_MAX + [...tokened].reduce((least, number) => Math.min(least, number), Infinity);
  const parts = partsOf(table);
  const lost = parts.filter(
    ({ min, max, level }) => level === 0 && min === max && min > oldest && !tokened.has(min),
  );
  const touched = parts.filter((part) => lost.some((one) => covers(part, one)));
  for (const { name } of touched)
    renameSync(join(table, name), freePath(join(table, "detached", `untokened_${name}`)));
  return touched.map(({ name }) => name);
}

/** A table whose parts are all gone numbers its inserts anew, so a later power cut may leave a part of the same name. */
function freePath(path: string): string {
  let free = path;
  for (let attempt = 1; existsSync(free); attempt++) free = `${path}_try${attempt}`;
  return free;
}

function forgetMissing(table: string, logs: readonly TokenLog[]): string[] {
  const parts = partsOf(table);
  const isThere = (part: Part) => parts.some((one) => covers(one, part));
  return logs.flatMap(({ file, lines, isCut }) => {
    const missing: string[] = [];
    const kept = lines.filter((line) => {
      const part = addedPart(line);
      if (part === undefined || isThere(part)) return true;
      missing.push(part.name);
      return false;
    });
    if (missing.length > 0 || isCut) writeDurably(file, kept.map((line) => `${line}\n`).join(""));
    return missing;
  });
}

/** The part of a line that adds a token; undefined for one that takes it away. */
function addedPart(line: string): Part | undefined {
  const [operation, name = ""] = line.split("\t");
  return operation === ADDED ? parsePart(name) : undefined;
}

interface Part {
  name: string;
  partition: string;
  /** The inserts that it holds, by their numbers in the table. */
  min: number;
  max: number;
  /** 0 for an insert, more after merges. */
  level: number;
}

function partsOf(table: string): Part[] {
  return readdirSync(table).flatMap((name) => parsePart(name) ?? []);
}

/** `<partition>_<first insert>_<last insert>_<level>`, and after a mutation `_<version>`. */
function parsePart(name: string): Part | undefined {
  const match = /^([^_]+)_(\d+)_(\d+)_(\d+)(?:_\d+)?$/.exec(name);
  if (match === null) return undefined;
  const [, partition = "", min, max, level] = match;
  return { name, partition, min: Number(min), max: Number(max), level: Number(level) };
}

function covers(part: Part, other: Part): boolean {
  return part.partition === other.partition && part.min <= other.min && other.max <= part.max;
}
