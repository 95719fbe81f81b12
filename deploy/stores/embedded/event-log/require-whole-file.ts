import { open, type FileHandle } from "node:fs/promises";

/** LMDB has two records of its state, at the beginning of its first two pages, and uses the later one. */
const META_AT = 24;
const PAGE_SIZE_AT = 24;
const LAST_PAGE_AT = 120;
const TRANSACTION_AT = 128;
const META_BYTES = 136;
const MAGIC = 0xbeefc0de;
/** Pages that are freed in the transaction that allocates them, at the end of the file, need not be in it. */
const UNWRITTEN_BYTES_MAX = 2 ** 20;

/**
 * Throws if the file of an LMDB database ends long before its last page: reading such a page would end the process with
 * a signal, without a word. A file that is absent, new or of another form passes: LMDB itself says what is wrong with it.
 */
export async function requireWholeFile(path: string): Promise<void> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return;
  try {
    const first = await readMeta(file, 0);
    if (first === undefined) return;
    const second = (await readMeta(file, first.pageBytes)) ?? first;
    const { lastPage } = second.transaction > first.transaction ? second : first;
    const wanted = Number(lastPage + 1n) * first.pageBytes;
    const { size } = await file.stat();
    if (size + UNWRITTEN_BYTES_MAX < wanted)
      throw new Error(
        `${path} has ${size} bytes of ${wanted}: its end is missing. Restore it from a backup, or remove the folder to ` +
          "begin with an empty log; lines that were not enriched yet are then lost",
      );
  } finally {
    await file.close();
  }
}

interface Meta {
  pageBytes: number;
  lastPage: bigint;
  transaction: bigint;
}

async function readMeta(file: FileHandle, pageAt: number): Promise<Meta | undefined> {
  const bytes = Buffer.alloc(META_BYTES);
  const { bytesRead } = await file.read(bytes, 0, META_BYTES, pageAt + META_AT);
  if (bytesRead < META_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  return {
    pageBytes: bytes.readUInt32LE(PAGE_SIZE_AT),
    lastPage: bytes.readBigUInt64LE(LAST_PAGE_AT),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
  };
}
