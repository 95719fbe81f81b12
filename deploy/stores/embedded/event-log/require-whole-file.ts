import { open, type FileHandle } from "node:fs/promises";

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
 * Throws if either record is damaged, or if the file ends long before its last page. LMDB would end the process with a
 * signal, without a word; without the second record, it would also forget the last commit. A file that is absent or empty
 * passes: LMDB makes it.
 */
export async function requireWholeFile(path: string): Promise<void> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return;
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const { lastPage, pageBytes } = await latestMeta(file, path);
    const wanted = Number(lastPage + 1n) * pageBytes;
    if (size + UNWRITTEN_BYTES_MAX < wanted)
      throw new Error(`${path} has ${size} bytes of ${wanted}: its end is missing. ${REMEDY}`);
  } finally {
    await file.close();
  }
}

const REMEDY =
  "Restore it from a backup, or remove the folder to begin with an empty log; lines that were not enriched yet are then lost";

interface Meta {
  pageBytes: number;
  lastPage: bigint;
  transaction: bigint;
}

async function latestMeta(file: FileHandle, path: string): Promise<Meta> {
  const first = await readMeta(file, 0);
  const second = first && (await readMeta(file, first.pageBytes));
  if (first === undefined || second === undefined)
    throw new Error(`${path} is damaged at its beginning, or is no file of the event log. ${REMEDY}`);
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
