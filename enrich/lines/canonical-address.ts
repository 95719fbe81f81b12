import { isIPv4, SocketAddress } from "node:net";

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
