import type { Random } from "../../../deploy/demo/random.js";

/** Draws from that many IPv4 addresses, all equally likely and spread over all networks. */
export function evenAddresses(count: number): (random: Random) => string {
  return (random) => addressAt(random.below(count));
}

/** Another address for every number: each step permutes 32 bits, and goes on until it is one of a single host. */
function addressAt(number: number): string {
  let address = FIRST + number;
  do address = permuted(address);
  while (address < FIRST || address > LAST);
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** 1.0.0.0 to 223.255.255.255: the rest is no host's, multicast or reserved (RFC 6890). */
const FIRST = 0x01000000;
const LAST = 0xdfffffff;

/** An odd factor and a shift to the right can both be undone. */
function permuted(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d) + 0x9e3779b9;
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
