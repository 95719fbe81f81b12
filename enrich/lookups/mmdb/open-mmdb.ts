import { Reader } from "mmdb-lib";
import type { Response } from "mmdb-lib";
import { GenerationCache } from "../../caches/generation-cache.js";
import { METADATA_MARKER, verifyMmdb } from "./verify-mmdb.js";

/** A record of an MMDB as the file has it, with any fields. */
export type MmdbRecord = Readonly<Record<string, unknown>>;

export interface MmdbFile {
  /** For messages. */
  path: string;
  bytes: Uint8Array;
}

export interface Mmdb {
  /** The record of an address in canonical text; the same object again while it is cached. */
  find: (address: string) => MmdbRecord | undefined;
}

/** On average: the record of a city takes 600, and its parts are entries as well. */
const ENTRY_BYTES = 250;

/** Opens a file. Cheap: the bytes are shared, not copied. Files that `verifiedMmdb` refuses may give wrong answers. */
export function openMmdb({ bytes }: MmdbFile, { cacheBytesMax }: { cacheBytesMax: number }): Mmdb {
  // By offset in the file, so that addresses with the same record get the same object.
  const cache = new GenerationCache<number | string, object>(cacheBytesMax, () => ENTRY_BYTES);
  const reader = openReader(bytes, {
    get: (offset) => cache.get(offset),
    set: (offset, value) => void cache.set(offset, value as object),
  });
  const holdsIpv6 = reader.metadata.ipVersion === 6;
  return {
    find: (address) => {
      if (!holdsIpv6 && address.includes(":")) return undefined;
      return (reader.get(address) as MmdbRecord | null) ?? undefined;
    },
  };
}

/** Checks a file from end to end; a damaged one is an error that names it. */
export function verifiedMmdb({ path, bytes }: MmdbFile): MmdbFile {
  try {
    const buffer = asBuffer(bytes);
    if (!buffer.includes(METADATA_MARKER))
      throw new Error("it has no MMDB metadata and may be another kind of file");
    verifyMmdb(buffer, openReader(bytes).metadata);
    return { path, bytes };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`The database ${path} is damaged or not in MMDB form: ${reason}.`, { cause: error });
  }
}

/** The first `recordsMax` records, to see which fields a database has. */
export function sampleRecords(file: MmdbFile, recordsMax: number): MmdbRecord[] {
  const reader = openReader(file.bytes);
  const bits = reader.metadata.ipVersion === 4 ? 32 : 128;
  const records: MmdbRecord[] = [];
  for (let address = 0n; address < 1n << BigInt(bits) && records.length < recordsMax;) {
    const [record, prefixBits] = reader.getWithPrefixLength(addressText(address, bits));
    if (record !== null) records.push(record as MmdbRecord);
    address = ((address >> BigInt(bits - prefixBits)) + 1n) << BigInt(bits - prefixBits);
  }
  return records;
}

type RecordCache = NonNullable<NonNullable<ConstructorParameters<typeof Reader>[1]>["cache"]>;

function openReader(bytes: Uint8Array, cache?: RecordCache): Reader<Response> {
  return new Reader<Response>(asBuffer(bytes), cache === undefined ? {} : { cache });
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function addressText(address: bigint, bits: number): string {
  const width = bits === 32 ? 8n : 16n;
  const parts: string[] = [];
  for (let shift = BigInt(bits) - width; shift >= 0n; shift -= width) {
    const part = (address >> shift) & ((1n << width) - 1n);
    parts.push(part.toString(bits === 32 ? 10 : 16));
  }
  return parts.join(bits === 32 ? "." : ":");
}
