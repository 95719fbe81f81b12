import { BlockList, isIP, isIPv4 } from "node:net";

/** Makes a test for the addresses of TRUSTED_PROXIES (addresses or CIDR ranges, IPv4 and IPv6). */
export function trustsProxy(trusted: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const each of trusted) {
    const [address = "", prefix] = each.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:/, "");
    return isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
  };
}
