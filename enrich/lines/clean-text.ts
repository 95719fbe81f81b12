import { addressesIn } from "./find-addresses.js";
import { numberText } from "./exact-numbers.js";

const BREAKS = /[\r\n\0]/;
const ALL_BREAKS = /[\r\n\0]/g;

/** Line breaks and NUL become spaces: the CSV export promises one line a row. */
export function cleanText(text: string): string {
  return BREAKS.test(text) ? text.replace(ALL_BREAKS, " ") : text;
}

export function isLongerThan(text: string, bytesMax: number): boolean {
  return text.length > bytesMax || (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax);
}

/** At most `bytesMax` bytes of UTF-8, cut between characters. */
export function truncate(text: string, bytesMax: number): string {
  if (!isLongerThan(text, bytesMax)) return text;
  // Each character has at least a byte: the rest of a long text cannot fit and is not encoded.
  const bytes = Buffer.from(text.slice(0, bytesMax + 1));
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/** Always Unicode without NUL: PostgreSQL would refuse the whole batch for one half of a surrogate pair. */
export function excerpt(text: string, bytesMax: number): string {
  const start = cleanText(Buffer.from(truncate(text, bytesMax)).toString());
  return isLongerThan(text, bytesMax) ? `${start}…` : start;
}

/** A value of a line, for a message. Nested values are not written out: they may be deeper than the stack. */
export function describeValue(value: unknown, bytesMax: number): string {
  if (Array.isArray(value)) return "[…]";
  const text = numberText(value);
  if (typeof value === "object" && value !== null && text === undefined) return "{…}";
  return describeText(typeof value === "string" ? value : (text ?? String(value)), bytesMax);
}

/**
 * A text of a line, for a message. Messages outlive the erasure of a client, so they never have an address, in whatever
 * field it was sent.
 */
export function describeText(text: string, bytesMax: number): string {
  const isSafe = addressesIn(text.slice(0, bytesMax + ADDRESS_LENGTH_MAX))?.length === 0;
  return isSafe ? excerpt(text, bytesMax) : WITH_ADDRESS;
}

/** An IPv6 address that ends in an IPv4 one, with escaped colons. */
const ADDRESS_LENGTH_MAX = 64;
export const WITH_ADDRESS = "(contains an address)";
