import { isIPv4, isIPv6, SocketAddress } from "node:net";

export interface Connection {
  /** Address of the other end of the socket. */
  remoteAddress: string | undefined;
  /** `X-Forwarded-For`, each proxy's entry after the one before; empty where there is none. */
  forwardedFor: string;
}

/**
 * Who is calling, as far as that can be believed: the other end of the connection or, behind trusted proxies, the
 * last address in `X-Forwarded-For` that is not a trusted proxy's. What stands before it the caller may have made up.
 * An IPv6 address is answered as its /64, which is what one customer has; `unknown` where there is none.
 */
export function clientAddress(
  { remoteAddress, forwardedFor }: Connection,
  trustsProxy: (address: string) => boolean,
): string {
  let client = plainAddress(remoteAddress ?? "");
  if (client === undefined) return "unknown";
  for (const entry of forwardedFor.split(",").reverse()) {
    if (!trustsProxy(client)) break;
    const hop = plainAddress(withoutPort(entry.trim()));
    // A proxy that cannot say whom it speaks for is the last that is known.
    if (hop === undefined) break;
    client = hop;
  }
  return isIPv4(client) ? client : networkOf(client);
}

/** `[2001:db8::1]:443` and `192.0.2.1:443` as some proxies write them. */
function withoutPort(entry: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

/** Without a zone; an IPv4 address in IPv6 clothes is IPv4. Undefined for what is no address. */
function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const address = text.replace(/%.*$/, "");
  if (!isIPv6(address)) return undefined;
  const spelt = new SocketAddress({ address, family: "ipv6" }).address;
  return /^::ffff:([\d.]+)$/.exec(spelt)?.[1] ?? spelt;
}

/** `address` is spelt as short as can be, its last two groups perhaps as IPv4. */
function networkOf(address: string): string {
  const [before = "", after] = address.split("::");
  const groups = before === "" ? [] : before.split(":");
  const last = after === undefined || after === "" ? [] : after.split(":");
  const lastGroups = last.length + Number(address.includes("."));
  const zeros = after === undefined ? 0 : 8 - groups.length - lastGroups;
  const all = [...groups, ...Array<string>(zeros).fill("0"), ...last];
  return `${all.slice(0, 4).join(":")}::/64`;
}
