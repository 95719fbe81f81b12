import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open as openFile, realpath, rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Database, type RootDatabase, open } from "lmdb";
import { formatSize } from "../../../../schemas/records/format-size.js";
import { EventLogUnavailable } from "../../../../schemas/records/event-log.js";
import { StartFailure } from "../../../process/start-failure.js";

export type RecordKey = [topic: string, partition: number, offset: number];
export type CursorKey = [topic: string, partition: number, group: string];

/** Known of a record without reading it: its size, the time it was appended, and for whom. */
type RecordFacts = [bytes: number, appendedAtMs: number, ownerId?: string];

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

/**
 * LMDB's binding keeps the reason of a failed write in a promise of its own, and on a full disk that is often
 * only "Input/output error": so the sentence adds the room that is left.
 */
export async function written<Result>(writing: Promise<Result>, { file }: { file: string }): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    const reason = (error as { commitError?: Promise<never> } | undefined)?.commitError;
    const cause = reason ? await reason.catch((rejected: unknown) => rejected) : error;
    const left = formatSize(await freeBytes(file));
    throw new EventLogUnavailable(`the event log could not be written; its disk has ${left} left`, {
      cause,
    });
  }
}

/** A few commits of the largest size. */
const ROOM_BYTES_MIN = 64 * 2 ** 20;

/** Throws while the disk has no room for appends, so that `/readyz` says so before one is refused. */
export async function requireRoom({ file }: { file: string }, free = freeBytes): Promise<void> {
  const bytes = await free(file);
  if (bytes < ROOM_BYTES_MIN) throw new Error(`the disk of the event log has ${formatSize(bytes)} left`);
}

async function freeBytes(file: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(file));
  return bavail * bsize;
}

/** LMDB has two records of its state, at the beginning of its first two pages, and uses the later one. */
const META_AT = 24;
const PAGE_SIZE_AT = 24;
const LAST_PAGE_AT = 120;
const TRANSACTION_AT = 128;
const META_BYTES = 136;
/** MDB_MAGIC and MDB_DATA_VERSION of LMDB's mdb.c. */
const MAGIC = 0xbeefc0de;
const VERSION_AT = 4;
const VERSION = 2;
/** Pages that are freed in the transaction that allocates them, at the end of the file, need not be in it. */
const UNWRITTEN_BYTES_MAX = 2 ** 20;

/**
 * Throws if either record is damaged, or if the file ends long before its last page: LMDB would end the
 * process with a signal, or forget the last commit. A file that is absent or empty passes.
 */
async function requireWholeFile(path: string): Promise<void> {
  const file = await openFile(path, "r").catch(() => undefined);
  if (file === undefined) return;
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const { lastPage, pageBytes } = await latestMeta(file, path);
    const wanted = Number(lastPage + 1n) * pageBytes;
    if (size + UNWRITTEN_BYTES_MAX < wanted)
      throw new Error(`${path} is truncated: it has ${size} bytes instead of ${wanted}. ${REMEDY}`);
  } finally {
    await file.close();
  }
}

const REMEDY =
  "Restore it from a backup, or remove the folder to start with an empty log. Without the log, lines " +
  "that are not enriched yet are lost";

interface Meta {
  pageBytes: number;
  lastPage: bigint;
  transaction: bigint;
}

async function latestMeta(file: FileHandle, path: string): Promise<Meta> {
  const first = await readMeta(file, 0);
  const second = first && (await readMeta(file, first.pageBytes));
  if (first === undefined || second === undefined)
    throw new Error(`${path} is damaged, or is not a file of the event log. ${REMEDY}`);
  return second.transaction > first.transaction ? second : first;
}

/** Undefined for a record that is damaged or of another version of LMDB. */
async function readMeta(file: FileHandle, pageAt: number): Promise<Meta | undefined> {
  const bytes = Buffer.alloc(META_BYTES);
  const { bytesRead } = await file.read(bytes, 0, META_BYTES, pageAt + META_AT);
  if (bytesRead < META_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  if (bytes.readUInt16LE(VERSION_AT) !== VERSION) return undefined;
  return {
    pageBytes: bytes.readUInt32LE(PAGE_SIZE_AT),
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}
