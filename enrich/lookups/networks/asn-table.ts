import { ADDRESS_WORDS, type Address } from "../parse-address.js";

/**
 * Ranges sorted by their first address, in flat arrays over shared memory, which pass to a thread without a
 * copy. IPv6 addresses take four words each.
 */
export interface AsnTable {
  ipv4: AsnRanges;
  ipv6: AsnRanges;
  numbers: Uint32Array;
  /** Owner `i` is called `names[nameEnds[i - 1] .. nameEnds[i]]`, UTF-8. */
  nameEnds: Uint32Array;
  names: Uint8Array;
}

export interface AsnRanges {
  starts: Uint32Array;
  ends: Uint32Array;
  owners: Uint32Array;
  /**
   * The first range that starts with these 16 bits or later, for each and for the end: a search begins among a
   * few ranges.
   */
  firsts: Uint32Array;
}

export const IPV4_WORDS = 1;
export const IPV6_WORDS = 4;

/** The index of the owner of an address, or -1 where no network announces it. */
export function findAsnOwner(table: AsnTable, { family, words }: Readonly<Address>): number {
  if (family === 0) return -1;
  return family === 4 ? findRange(table.ipv4, words, IPV4_WORDS) : findRange(table.ipv6, words, IPV6_WORDS);
}

export function readAsnOwner(table: AsnTable, owner: number): { asn: number; organization: string } {
  const from = owner === 0 ? 0 : table.nameEnds[owner - 1]!;
  const name = Buffer.from(table.names.buffer, from, table.nameEnds[owner]! - from).toString("utf8");
  return { asn: table.numbers[owner]!, organization: name };
}

/** The last range that starts at or before the address, if it also ends at or after it. */
function findRange({ starts, ends, owners, firsts }: AsnRanges, address: Uint32Array, width: number): number {
  const first = address[ADDRESS_WORDS - width]! >>> 16;
  let low = firsts[first]!;
  let high = firsts[first + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(starts, middle * width, address, width) <= 0) low = middle + 1;
    else high = middle;
  }
  const found = low - 1;
  return found >= 0 && compare(ends, found * width, address, width) >= 0 ? owners[found]! : -1;
}

/** Negative where the table's address comes before the one looked for, positive where it comes after. */
function compare(addresses: Uint32Array, at: number, address: Uint32Array, width: number): number {
  for (let word = 0; word < width; word++) {
    const difference = addresses[at + word]! - address[ADDRESS_WORDS - width + word]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
