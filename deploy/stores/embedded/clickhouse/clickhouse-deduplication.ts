import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Removes the deduplication tokens of interrupted inserts. A MergeTree table writes the token of a part to its
 * deduplication log, then renames the part into place, both under one lock. After a crash in between, the log names a
 * missing part, and ClickHouse drops the repeated insert as a duplicate. Only the last entry of a table can be wrong,
 * and only until the next insert. Must only run while the server does not.
 *
 * @param dataDir the server's `--path`
 * @returns the names of the parts whose tokens were removed
 */
export function forgetInterruptedInserts(dataDir: string): string[] {
  return tablesOf(join(dataDir, "store")).flatMap((table) => {
    const file = lastLogOf(join(table, LOGS));
    return file === undefined ? [] : forgetInterruptedInsert(table, file);
  });
}

const LOGS = "deduplication_logs";

/** Tables of an Atomic database: store/<first digits>/<uuid>. */
function tablesOf(store: string): string[] {
  if (!existsSync(store)) return [];
  const entriesOf = (dir: string) => readdirSync(dir).map((name) => join(dir, name));
  return entriesOf(store)
    .flatMap(entriesOf)
    .filter((table) => existsSync(join(table, LOGS)));
}

/** Logs are numbered and rotated. The newest may still be empty. */
function lastLogOf(dir: string): string | undefined {
  return readdirSync(dir)
    .map((name) => ({ name, number: Number(/^deduplication_log_(\d+)\.txt$/.exec(name)?.[1]) }))
    .filter(({ number }) => Number.isInteger(number))
    .sort((a, b) => b.number - a.number)
    .map(({ name }) => join(dir, name))
    .find((file) => readFileSync(file).length > 0);
}

function forgetInterruptedInsert(table: string, file: string): string[] {
  const text = readFileSync(file, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const last = whole.split("\n").at(-2) ?? "";
  const [operation, part = ""] = last.split("\t");
  const isInterrupted = operation === ADDED && !exists(table, part) && isNewest(table, file);
  const kept = isInterrupted ? whole.slice(0, whole.length - last.length - 1) : whole;
  if (kept.length < text.length) {
    writeFileSync(`${file}.new`, kept, { mode: 0o640 });
    renameSync(`${file}.new`, file);
  }
  return isInterrupted ? [part] : [];
}

const ADDED = "1";

interface Blocks {
  partition: string;
  min: number;
  max: number;
}

/** Whether the part exists, or a part that it was merged into. */
function exists(table: string, part: string): boolean {
  const blocks = parsePart(part);
  if (blocks === undefined) return true;
  return readdirSync(table)
    .flatMap((name) => parsePart(name) ?? [])
    .some(
      ({ partition, min, max }) => partition === blocks.partition && min <= blocks.min && blocks.max <= max,
    );
}

/**
 * An insert that was interrupted was the last that happened; a newer part has taken the place of one that was
 * moved away, whose token must stay.
 */
function isNewest(table: string, file: string): boolean {
  const written = statSync(file).mtimeMs;
  const parts = readdirSync(table).filter((name) => parsePart(name) !== undefined);
  return parts.every((name) => statSync(join(table, name)).mtimeMs <= written);
}

/** `<partition>_<first block>_<last block>_<level>`, and after a mutation `_<version>`. */
function parsePart(name: string): Blocks | undefined {
  const match = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name);
  if (match === null) return undefined;
  return { partition: match[1] ?? "", min: Number(match[2]), max: Number(match[3]) };
}
