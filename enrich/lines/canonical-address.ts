import { SocketAddress } from "node:net";

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;

/**
 * One text for one address: IPv6 compressed and in lower case, an IPv4-mapped IPv6 address as IPv4, no zone.
 * Takes what `isIP` accepts.
 */
export function canonicalAddress(address: string): string {
  if (isIPv4(address)) return address;
  const withoutZone = address.replace(/%.*$/, "");
  const canonical = new SocketAddress({ address: withoutZone, family: "ipv6" }).address;
  return MAPPED.exec(canonical)?.[1] ?? canonical;
}

const DOT = 0x2e;
const DIGIT_0 = 0x30;

/** As Node's: four numbers up to 255 without leading zeros. Its pattern takes ten times as long. */
export function isIPv4(text: string): boolean {
  let dots = 0;
  let value = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT && value >= 0) {
      dots++;
      value = -1;
      continue;
    }
    const digit = code - DIGIT_0;
    if (digit < 0 || digit > 9 || value === 0) return false;
    value = Math.max(value, 0) * 10 + digit;
    if (value > 255) return false;
  }
  return dots === 3 && value >= 0;
}
