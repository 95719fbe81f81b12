import { Reader, type Response } from "mmdb-lib";
import type { Address } from "../parse-address.js";
import { openSearchTree } from "./search-tree.js";

export type MmdbRecord = Readonly<Record<string, unknown>>;

export interface MmdbFile {
  path: string;
  bytes: Uint8Array;
}

/** Opens a file. Cheap: the bytes are shared, not copied. Files that `sampleRecords` refuses may give wrong answers. */
export function openMmdb({ bytes }: MmdbFile) {
  const reader = openReader(bytes);
  const { nodeCount, recordSize, ipVersion } = reader.metadata;
  return {
    find: openSearchTree({ bytes, nodeCount, recordSize, ipVersion }),
    /** The record of an address that `find` has answered a number for. */
    read: (address: Readonly<Address>): MmdbRecord =>
      (reader.get(textOf(address)) as MmdbRecord | null) ?? {},
  };
}

function textOf({ family, words }: Readonly<Address>): string {
  if (family === 4) return addressText(BigInt(words[3]!), 32);
  return addressText(
    words.reduce((value, word) => (value << 32n) | BigInt(word), 0n),
    128,
  );
}

const METADATA_MARKER = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
/** The separator between the search tree and the data; see https://maxmind.github.io/MaxMind-DB/. */
const SEPARATOR = Buffer.alloc(16);
const LOOKUPS_SPREAD = 1_000n;

/**
 * The first `recordsMax` records, to see which fields a database has, and some from all over the file:
 * mmdb-lib trusts it, and damage would surface only when a chunk is enriched. Throws for a damaged file.
 */
export function sampleRecords({ path, bytes }: MmdbFile, recordsMax: number): MmdbRecord[] {
  try {
    const db = asBuffer(bytes);
    if (!db.includes(METADATA_MARKER))
      throw new Error("it has no MMDB metadata and may be another kind of file");
    return readSamples(openReader(bytes), { db, recordsMax });
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`The database ${path} is damaged or not an MMDB file: ${reason}.`, { cause: error });
  }
}

function readSamples(
  reader: Reader<Response>,
  { db, recordsMax }: { db: Buffer; recordsMax: number },
): MmdbRecord[] {
  const { searchTreeSize: end, ipVersion } = reader.metadata;
  if (!db.subarray(end, end + SEPARATOR.length).equals(SEPARATOR))
    throw new Error("the size of its search tree does not match its metadata");
  const bits = ipVersion === 4 ? 32 : 128;
  const addresses = 1n << BigInt(bits);
  const records: MmdbRecord[] = [];
  for (let address = 0n; address < addresses && records.length < recordsMax;) {
    const [record, prefixBits] = reader.getWithPrefixLength(addressText(address, bits));
    if (record !== null) records.push(record as MmdbRecord);
    address = ((address >> BigInt(bits - prefixBits)) + 1n) << BigInt(bits - prefixBits);
  }
  for (let at = 0n; at < LOOKUPS_SPREAD; at++)
    reader.get(addressText((at * addresses) / LOOKUPS_SPREAD, bits));
  if (records.some(hasBrokenNumber)) throw new Error("it contains an invalid number");
  return records;
}

/** Less than any real value: a number of a wrong length is read as nearly zero, or as none. */
const NUMBER_MIN = 1e-30;

function hasBrokenNumber(value: unknown): boolean {
  if (typeof value === "number")
    return !Number.isFinite(value) || (value !== 0 && Math.abs(value) < NUMBER_MIN);
  return typeof value === "object" && value !== null && Object.values(value).some(hasBrokenNumber);
}

function openReader(bytes: Uint8Array): Reader<Response> {
  return new Reader<Response>(asBuffer(bytes));
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

/** The text at a path of keys and indexes in a decoded record, without surrounding space, or "". */
export function readText(record: unknown, ...path: readonly (string | number)[]): string {
  const value = readValue(record, path);
  return typeof value === "string" ? value.trim() : "";
}

export function readNumber(record: unknown, ...path: readonly (string | number)[]): number {
  const value = readValue(record, path);
  return typeof value === "number" ? value : NaN;
}

function readValue(record: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = record;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
