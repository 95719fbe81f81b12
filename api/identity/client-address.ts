import { isIPv4, isIPv6, SocketAddress } from "node:net";
import type { IncomingMessage } from "node:http";
import type { Account } from "../access/access.js";
import type { Postgres } from "../postgres/query.js";

/** Of a request. Each proxy appends an entry to its header. */
export type Connection = Pick<IncomingMessage, "headers"> & {
  socket: { remoteAddress?: string | undefined };
};

/** The key for limits by caller: an IPv6 address as its /64, one customer's share. `unknown` without an address. */
export function clientAddress(connection: Connection, trustsProxy: (address: string) => boolean): string {
  const client = forwardedAddress(connection, trustsProxy);
  if (client === undefined) return "unknown";
  return isIPv4(client) ? client : networkOf(client);
}

/**
 * The remote end or, behind trusted proxies, the last forwarded address of no proxy. Earlier ones may be invented.
 * `Forwarded` (RFC 7239) counts where there is no `X-Forwarded-For`.
 */
export function forwardedAddress(
  { headers, socket }: Connection,
  trustsProxy: (address: string) => boolean,
): string | undefined {
  const forwardedFor = String(headers["x-forwarded-for"] ?? "");
  const { forwarded = "" } = headers;
  let client = plainAddress(socket.remoteAddress ?? "");
  if (client === undefined || (forwardedFor === "" && forwarded === "")) return client;
  const entries = forwardedFor === "" ? forwardedEntries(forwarded) : forwardedFor.split(",");
  for (const entry of entries.reverse()) {
    if (!trustsProxy(client)) break;
    const hop = plainAddress(withoutPort(entry.trim()));
    // A proxy forwarded no address: the proxy is the last known one.
    if (hop === undefined) break;
    client = hop;
  }
  return client;
}

/** The `for` of each element of `Forwarded`, empty if absent. A comma or semicolon may be quoted. */
function forwardedEntries(forwarded: string): string[] {
  const elements = forwarded.match(/(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g) ?? [];
  return elements.map((element) => {
    const [, quoted, token = ""] =
      /(?:^|;)\s*for=(?:"((?:[^"\\]|\\.)*)"|([^;,"\s]*))/i.exec(element.trim()) ?? [];
    return quoted?.replace(/\\(.)/g, "$1") ?? token;
  });
}

/** Some proxies append the port: `[2001:db8::1]:443`, `192.0.2.1:443`. */
function withoutPort(entry: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

/** Without a zone. An IPv4-mapped IPv6 address becomes IPv4. Undefined if the text is no address. */
function plainAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const address = text.replace(/%.*$/, "");
  if (!isIPv6(address)) return undefined;
  const spelt = new SocketAddress({ address, family: "ipv6" }).address;
  return /^::ffff:([\d.]+)$/.exec(spelt)?.[1] ?? spelt;
}

/** `address` is in its shortest spelling; the last two groups may be written as IPv4. */
function networkOf(address: string): string {
  const [before = "", after] = address.split("::");
  const groups = before === "" ? [] : before.split(":");
  const last = after === undefined || after === "" ? [] : after.split(":");
  const lastGroups = last.length + Number(address.includes("."));
  const zeros = after === undefined ? 0 : 8 - groups.length - lastGroups;
  const all = [...groups, ...Array<string>(zeros).fill("0"), ...last];
  return `${all.slice(0, 4).join(":")}::/64`;
}

export interface Caller {
  account: Account;
  /** Asks again whether the session that it is made for still holds. */
  requireCaller?: ((from: Postgres) => Promise<Account>) | undefined;
}

/** Requests that this process made to its own API for an account. Nobody outside can be in here. */
const CALLERS = new WeakMap<IncomingMessage, Caller>();

export function actAs(request: IncomingMessage, caller: Caller): void {
  CALLERS.set(request, caller);
}

export function inProcessCaller(request: IncomingMessage): Caller | undefined {
  return CALLERS.get(request);
}
