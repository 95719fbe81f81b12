import { readFileSync } from "node:fs";
import { callLibc } from "../../../process/libc.js";
import {
  type Cursor,
  type CursorKey,
  type LogTables,
  type LogTablesOptions,
  openLogTables,
} from "./event-log-tables.js";

/** The log's tables and what is read from them. Reads see one commit until `refresh` lets them see the latest. */
export interface LogStore extends LogTables {
  readonly topic: string;
  /** Lets the next reads see what other threads and processes committed. */
  refresh(): void;
  /** The offset that the next record of each partition gets: never given twice, whatever was deleted. */
  nextOffsets(): Versioned<number[]>;
  readonly nextOffsetsKey: string[];
  /** A group that has none yet begins with the oldest record kept. */
  cursor(group: string, partition: number): Versioned<Cursor>;
  /** The lowest offset that some group of the partition still wants; 0 before there is a group. */
  consumedBelow(partition: number): number;
  /** Records appended and not committed by the group, over these partitions, and before these ends of theirs. */
  lag(group: string, partitions: readonly number[], below?: readonly number[]): number;
  ends(): number[];
}

/** A value with the version that a conditional write must name; `null` when it has not been written yet. */
interface Versioned<Value> {
  value: Value;
  version: number | null;
}

/** Opens or makes the log. Throws StartFailure when the folder cannot be written. */
export async function openLogStore(options: LogTablesOptions): Promise<LogStore> {
  const { topic } = options;
  const tables = await openLogTables(options);
  const { root, state, cursors, partitions } = tables;
  const nextOffsetsKey = [topic, "next offsets"];

  function nextOffsets(): Versioned<number[]> {
    const entry = state.getEntry(nextOffsetsKey) as Stored<number[]>;
    return { value: entry?.value ?? new Array<number>(partitions).fill(0), version: entry?.version ?? null };
  }

  function oldest(partition: number): number {
    const range = { start: [topic, partition, 0], end: [topic, partition, Infinity], limit: 1 };
    for (const [, , offset] of tables.facts.getKeys(range)) return offset;
    return nextOffsets().value[partition] ?? 0;
  }

  function cursor(group: string, partition: number): Versioned<Cursor> {
    const entry: Stored<Cursor> = cursors.getEntry([topic, partition, group]);
    return { value: entry?.value ?? { next: oldest(partition) }, version: entry?.version ?? null };
  }

  function lag(group: string, of: readonly number[], below?: readonly number[]): number {
    const next = ends();
    return of.reduce((sum, partition) => {
      const end = Math.min(next[partition] ?? 0, (below ?? next)[partition] ?? 0);
      return sum + Math.max(0, end - cursor(group, partition).value.next);
    }, 0);
  }

  function ends(): number[] {
    root.resetReadTxn();
    return nextOffsets().value;
  }

  return {
    ...tables,
    topic,
    refresh: () => root.resetReadTxn(),
    nextOffsets,
    nextOffsetsKey,
    cursor,
    consumedBelow: (partition) => lowestCursor(cursors, { topic, partition }),
    lag,
    ends,
  };
}

type Stored<Value> = { value: Value; version?: number } | undefined;

function lowestCursor(cursors: LogTables["cursors"], of: { topic: string; partition: number }): number {
  // A shorter key sorts before every key that it begins.
  const start = [of.topic, of.partition] as unknown as CursorKey;
  const end = [of.topic, of.partition + 1] as unknown as CursorKey;
  const wanted = [...cursors.getRange({ start, end })].map(({ value }) => value.next);
  return wanted.length === 0 ? 0 : Math.min(...wanted);
}

const MADV_DONTNEED = 4;

/**
 * They stay in the system's page cache, so reading one again costs a minor fault. LMDB never does it: the
 * memory of the process would grow with every byte of the log that was ever read. Linux; elsewhere it does
 * nothing.
 */
export function releaseMappedPages(file: string): void {
  if (process.platform !== "linux") return;
  for (const { start, length } of mappingsOf(file))
    callLibc("madvise", ["long", start], ["long", length], ["int", MADV_DONTNEED]);
}

/** Lines of the form `7fde2f800000-7fde4fb00000 r--s 00000000 fe:00 1234    /path/data.mdb`. */
function mappingsOf(file: string): { start: number; length: number }[] {
  return readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .filter((line) => line.endsWith(` ${file}`))
    .map((line) => {
      const [start = 0, end = 0] = line
        .slice(0, line.indexOf(" "))
        .split("-")
        .map((hex) => parseInt(hex, 16));
      return { start, length: end - start };
    });
}
