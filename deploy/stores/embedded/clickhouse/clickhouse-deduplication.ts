import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Forgets the inserts that a crash cut short. A MergeTree table writes the token of a part to its deduplication log
 * just before it renames the part into place (both under one lock): killed in between, the log names a part that is
 * not there, and the insert, repeated with its token, is dropped as a duplicate and lost. So only the last entry of a
 * table can be wrong, and only before the next insert. Call it while the server does not run.
 *
 * @param dataDir the server's `--path`
 * @returns the parts whose tokens were forgotten
 */
export function forgetCutInserts(dataDir: string): string[] {
  return tablesOf(join(dataDir, "store")).flatMap((table) => {
    const file = lastLogOf(join(table, LOGS));
    return file === undefined ? [] : forgetCutInsert(table, file);
  });
}

const LOGS = "deduplication_logs";

/** Tables of an Atomic database: store/<first digits>/<uuid>. */
function tablesOf(store: string): string[] {
  if (!existsSync(store)) return [];
  const below = (dir: string) => readdirSync(dir).map((name) => join(dir, name));
  return below(store)
    .flatMap(below)
    .filter((table) => existsSync(join(table, LOGS)));
}

/** Logs are numbered and rotated; the last one may be still empty. */
function lastLogOf(dir: string): string | undefined {
  return readdirSync(dir)
    .map((name) => ({ name, number: Number(/^deduplication_log_(\d+)\.txt$/.exec(name)?.[1]) }))
    .filter(({ number }) => Number.isInteger(number))
    .sort((a, b) => b.number - a.number)
    .map(({ name }) => join(dir, name))
    .find((file) => readFileSync(file).length > 0);
}

function forgetCutInsert(table: string, file: string): string[] {
  const text = readFileSync(file, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const last = whole.split("\n").at(-2) ?? "";
  const [operation, part = ""] = last.split("\t");
  const isCut = operation === ADDED && !isThere(table, part);
  const kept = isCut ? whole.slice(0, whole.length - last.length - 1) : whole;
  if (kept.length < text.length) {
    writeFileSync(`${file}.new`, kept, { mode: 0o640 });
    renameSync(`${file}.new`, file);
  }
  return isCut ? [part] : [];
}

const ADDED = "1";

interface Blocks {
  partition: string;
  min: number;
  max: number;
}

/** Itself, or within a part that it was merged into. */
function isThere(table: string, part: string): boolean {
  const blocks = parsePart(part);
  if (blocks === undefined) return true;
  return readdirSync(table)
    .flatMap((name) => parsePart(name) ?? [])
    .some(
      ({ partition, min, max }) => partition === blocks.partition && min <= blocks.min && blocks.max <= max,
    );
}

/** `<partition>_<first block>_<last block>_<level>`, and after a mutation `_<version>`. */
function parsePart(name: string): Blocks | undefined {
  const match = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name);
  if (match === null) return undefined;
  return { partition: match[1] ?? "", min: Number(match[2]), max: Number(match[3]) };
}
