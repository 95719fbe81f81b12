import { IPV4_WORDS, IPV6_WORDS } from "./asn-table.js";
import type { AsnRanges, AsnTable } from "./asn-table.js";
import { parseAddress } from "../parse-address.js";

export interface AsnCsv {
  path: string;
  bytes: Uint8Array;
}

/**
 * Files of `first,last,AS number,organization` (as ip-location-db), each sorted, with addresses as text or
 * decimal numbers. A line of another form is an error that names it.
 */
export function parseAsnCsv(files: readonly AsnCsv[]): AsnTable {
  const rows = files.reduce((sum, { bytes }) => sum + countLines(bytes), 0);
  const building: Building = {
    ipv4: openRanges(rows, IPV4_WORDS),
    ipv6: openRanges(rows, IPV6_WORDS),
    ownerByNumber: new Map(),
    numbers: [],
    names: [],
  };
  for (const file of files) addFile(building, file);
  return {
    ipv4: closeRanges(building.ipv4),
    ipv6: closeRanges(building.ipv6),
    ...shareOwners(building),
  };
}

interface Building {
  ipv4: GrowingRanges;
  ipv6: GrowingRanges;
  ownerByNumber: Map<number, number>;
  numbers: number[];
  names: Buffer[];
}

interface GrowingRanges extends Omit<AsnRanges, "firsts"> {
  width: number;
  length: number;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const DIGIT_0 = 0x30;

function countLines(bytes: Uint8Array): number {
  let lines = 1;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

function openRanges(rows: number, width: number): GrowingRanges {
  const starts = new Uint32Array(rows * width);
  const ends = new Uint32Array(rows * width);
  return { starts, ends, owners: new Uint32Array(rows), width, length: 0 };
}

function addFile(building: Building, { path, bytes }: AsnCsv): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // One character per byte, so that positions are offsets: slicing a string is several times faster than a Buffer.
  const text = buffer.toString("latin1");
  let line = 1;
  for (let start = 0; start < text.length; line++) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    if (end > start) {
      const fault = addLine(building, { buffer, text, start, end });
      if (fault !== undefined) throw new Error(`The ASN database ${path} is invalid: line ${line} ${fault}.`);
    }
    start = end + 1;
  }
}

interface Line {
  buffer: Buffer;
  text: string;
  start: number;
  end: number;
}

const first = new Uint32Array(4);
const last = new Uint32Array(4);

/** Adds one line, or answers what is wrong with it. */
function addLine(building: Building, { buffer, text, start, end }: Line): string | undefined {
  const comma1 = text.indexOf(",", start);
  const comma2 = text.indexOf(",", comma1 + 1);
  const comma3 = text.indexOf(",", comma2 + 1);
  if (comma1 < 0 || comma2 < 0 || comma3 < 0 || comma3 > end) return "has fewer than four columns";
  const family = parseField(text.slice(start, comma1), first);
  if (family === 0 || parseField(text.slice(comma1 + 1, comma2), last) !== family) {
    return "does not start with two IP addresses of the same family";
  }
  const asn = parseNumber(text.slice(comma2 + 1, comma3));
  if (asn < 0 || asn > 0xffffffff) return "has no AS number in its third column";
  const owner = ownerOf(building, asn, () => unquote(buffer.subarray(comma3 + 1, end)));
  const ranges = family === 4 ? building.ipv4 : building.ipv6;
  return addRange(ranges, owner)
    ? undefined
    : "starts at a lower IP address than the previous range; sort the ranges";
}

/** Text or decimal form; a number beyond 32 bits is IPv6. */
function parseField(text: string, words: Uint32Array): 0 | 4 | 6 {
  const small = parseNumber(text);
  if (small >= 0 && small <= 0xffffffff) {
    words[0] = small;
    return 4;
  }
  if (small < 0) return parseAddress(text, words);
  const value = BigInt(text);
  for (let word = 0; word < 4; word++) words[word] = Number((value >> BigInt(96 - 32 * word)) & 0xffffffffn);
  return value >> 128n === 0n ? 6 : 0;
}

/** The value of decimal digits (inexact beyond 2^53), or -1. */
function parseNumber(text: string): number {
  let value = text.length === 0 || text.length > 39 ? -1 : 0;
  for (let at = 0; at < text.length && value >= 0; at++) {
    const digit = text.charCodeAt(at) - DIGIT_0;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : -1;
  }
  return value;
}

function ownerOf(building: Building, asn: number, name: () => Buffer): number {
  const known = building.ownerByNumber.get(asn);
  if (known !== undefined) return known;
  const owner = building.numbers.push(asn) - 1;
  building.names.push(name());
  building.ownerByNumber.set(asn, owner);
  return owner;
}

function unquote(field: Buffer): Buffer {
  const trimmed = field.at(-1) === 0x0d ? field.subarray(0, -1) : field;
  if (trimmed[0] !== QUOTE) return trimmed;
  return Buffer.from(trimmed.toString("utf8", 1, trimmed.length - 1).replaceAll('""', '"'));
}

function addRange(ranges: GrowingRanges, owner: number): boolean {
  const { width, length } = ranges;
  const at = length * width;
  if (length > 0 && isBefore(first, ranges.starts, at - width, width)) return false;
  for (let word = 0; word < width; word++) {
    ranges.starts[at + word] = first[word]!;
    ranges.ends[at + word] = last[word]!;
  }
  ranges.owners[length] = owner;
  ranges.length++;
  return true;
}

function isBefore(address: Uint32Array, others: Uint32Array, at: number, width: number): boolean {
  for (let word = 0; word < width; word++) {
    if (address[word] !== others[at + word]) return address[word]! < others[at + word]!;
  }
  return false;
}

function closeRanges({ starts, ends, owners, width, length }: GrowingRanges): AsnRanges {
  return {
    starts: share(starts.subarray(0, length * width)),
    ends: share(ends.subarray(0, length * width)),
    owners: share(owners.subarray(0, length)),
    firsts: share(firstsOf({ starts, width, length })),
  };
}

function firstsOf({
  starts,
  width,
  length,
}: Pick<GrowingRanges, "starts" | "width" | "length">): Uint32Array {
  const firsts = new Uint32Array(2 ** 16 + 1).fill(length);
  for (let row = length - 1; row >= 0; row--) firsts[starts[row * width]! >>> 16] = row;
  for (let first = 2 ** 16 - 1; first >= 0; first--)
    firsts[first] = Math.min(firsts[first]!, firsts[first + 1]!);
  return firsts;
}

function shareOwners({ numbers, names }: Building): Omit<AsnTable, "ipv4" | "ipv6"> {
  const nameEnds = new Uint32Array(new SharedArrayBuffer(numbers.length * 4));
  let end = 0;
  names.forEach((name, owner) => (nameEnds[owner] = end += name.length));
  const bytes = new Uint8Array(new SharedArrayBuffer(end));
  names.forEach((name, owner) => bytes.set(name, nameEnds[owner]! - name.length));
  return { numbers: share(Uint32Array.from(numbers)), nameEnds, names: bytes };
}

function share(values: Uint32Array): Uint32Array {
  const shared = new Uint32Array(new SharedArrayBuffer(values.byteLength));
  shared.set(values);
  return shared;
}
