import { isIPv4, isIPv6, SocketAddress } from "node:net";

export interface Connection {
  /** Address of the other end of the socket. */
  remoteAddress: string | undefined;
  /** `X-Forwarded-For`, each proxy's entry after the one before; empty where there is none. */
  forwardedFor: string;
  /** `Forwarded` (RFC 7239), read where there is no `X-Forwarded-For`. */
  forwarded?: string | undefined;
}

/**
 * Who is calling, for what is limited by caller: as `forwardedAddress` says, an IPv6 address as its /64, which is what
 * one customer has; `unknown` where there is none.
 */
export function clientAddress(connection: Connection, trustsProxy: (address: string) => boolean): string {
  const client = forwardedAddress(connection, trustsProxy);
  if (client === undefined) return "unknown";
  return isIPv4(client) ? client : networkOf(client);
}

/**
 * The caller's address as far as that can be believed: the other end of the connection or, behind trusted proxies, the
 * last address that they forward which is not a trusted proxy's. What stands before it the caller may have made up.
 */
export function forwardedAddress(
  { remoteAddress, forwardedFor, forwarded = "" }: Connection,
  trustsProxy: (address: string) => boolean,
): string | undefined {
  let client = plainAddress(remoteAddress ?? "");
  if (client === undefined || (forwardedFor === "" && forwarded === "")) return client;
  const entries = forwardedFor === "" ? forwardedEntries(forwarded) : forwardedFor.split(",");
  for (const entry of entries.reverse()) {
    if (!trustsProxy(client)) break;
    const hop = plainAddress(withoutPort(entry.trim()));
    // A proxy that cannot say whom it speaks for is the last that is known.
    if (hop === undefined) break;
    client = hop;
  }
  return client;
}

/** The `for` of each element of `Forwarded`, empty where it has none; a comma or semicolon may be quoted. */
function forwardedEntries(forwarded: string): string[] {
  const elements = forwarded.match(/(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g) ?? [];
  return elements.map((element) => {
    const [, quoted, token = ""] =
      /(?:^|;)\s*for=(?:"((?:[^"\\]|\\.)*)"|([^;,"\s]*))/i.exec(element.trim()) ?? [];
    return quoted?.replace(/\\(.)/g, "$1") ?? token;
  });
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
