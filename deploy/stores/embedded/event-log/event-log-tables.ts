import { randomUUID } from "node:crypto";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { open, type Database, type RootDatabase } from "lmdb";
import { StartFailure } from "../../../process/start-failure.js";
import { requireWholeFile } from "./require-whole-file.js";
import { written } from "./event-log-written.js";

export type RecordKey = [topic: string, partition: number, offset: number];
export type CursorKey = [topic: string, partition: number, group: string];

/** Known of a record without reading it: its size and the time it was appended. */
export type RecordFacts = [bytes: number, appendedAtMs: number];

/** A group's position in a partition: the next offset to consume, and the range from there that it will write. */
export interface Cursor {
  next: number;
  range?: { last: number; note: string };
}

/** The log in LMDB: one file, one environment for all threads of the process, a table for each kind of thing. */
export interface LogTables {
  /** The file that LMDB maps, as the system names it. */
  readonly file: string;
  readonly root: RootDatabase;
  readonly records: Database<Uint8Array, RecordKey>;
  readonly facts: Database<RecordFacts, RecordKey>;
  readonly cursors: Database<Cursor, CursorKey>;
  readonly state: Database<unknown, string[]>;
  /** Made with the log. */
  readonly id: string;
  readonly partitions: number;
}

export interface LogTablesOptions {
  dir: string;
  topic: string;
  partitions: number;
}

/** Opens or makes the tables. Throws StartFailure when the folder cannot be written. */
export async function openLogTables({ dir, topic, partitions }: LogTablesOptions): Promise<LogTables> {
  let root: RootDatabase | undefined;
  try {
    root = await openRoot(dir);
    const file = await realpath(join(dir, "data.mdb"));
    const state = root.openDB<unknown, string[]>({ name: "state", encoding: "json", useVersions: true });
    return {
      file,
      root,
      records: root.openDB({ name: "records", encoding: "binary" }),
      facts: root.openDB({ name: "facts", encoding: "json" }),
      cursors: root.openDB({ name: "cursors", encoding: "json", useVersions: true }),
      state,
      id: (await written(settle(state, ["log id"], randomUUID()), { file })) as string,
      partitions: (await written(settle(state, [topic, "partitions"], partitions), { file })) as number,
    };
  } catch (error) {
    await root?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFailure(`the event log in ${dir} cannot be opened: ${reason}`, { cause: error });
  }
}

/** Sizes that LMDB must know before it opens a log. */
export const LOG_SIZES = {
  /** Address space, not memory or disk; a log that outgrows it is mapped again, twice as large. */
  mapSize: 2 ** 36,
  maxDbs: 8,
  maxReaders: 256,
};

async function openRoot(dir: string): Promise<RootDatabase> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await requireWholeFile(join(dir, "data.mdb"));
  await reserveLockFile(join(dir, "lock.mdb"));
  return open({
    path: dir,
    ...LOG_SIZES,
    // A commit is on the disk when it resolves, and a failed flush is a failed commit.
    overlappingSync: false,
    // Otherwise a failed commit also rejects a promise that nobody can reach, which ends the process.
    eventTurnBatching: false,
  });
}

const LOCK_FILE_BYTES = 2 ** 16;

/** LMDB maps its lock file for writing: were it sparse, a full disk would kill the process instead of failing a call. */
async function reserveLockFile(path: string): Promise<void> {
  try {
    await writeFile(path, Buffer.alloc(LOCK_FILE_BYTES), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    await rm(path, { force: true });
    throw error;
  }
}

/** Writes a value that is made once and never changed: of several writers, the first decides. */
async function settle(state: LogTables["state"], key: string[], value: unknown): Promise<unknown> {
  await state.ifNoExists(key, () => void state.put(key, value, 1));
  return state.get(key);
}
