import { isIPv4 } from "node:net";
import type { IncomingMessage } from "node:http";
import { type Connection, readForwarded } from "../../../schemas/read-forwarded.js";
import type { Account } from "../access/access.js";
import type { Postgres } from "../postgres/query.js";

/** The key for limits by caller: an IPv6 address as its /64, one customer's share. `unknown` without an address. */
export function clientAddress(connection: Connection, trustsProxy: (address: string) => boolean): string {
  const client = readForwarded(connection, trustsProxy).address;
  if (client === undefined) return "unknown";
  return isIPv4(client) ? client : networkOf(client);
}

/** The network of a result of `clientAddress`: `203.0.113.0/24` or `2001:db8:1::/48`; undefined for an unknown address. */
export function coarseNetwork(address: string): string | undefined {
  if (address === "unknown") return undefined;
  const isIPv4 = !address.includes(":");
  return isIPv4
    ? `${address.split(".", 3).join(".")}.0/24`
    : `${address.split(":").slice(0, 3).join(":")}::/48`;
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
  /** The id of the only operation that may answer; without it any may. */
  operation?: string | undefined;
}

/** Requests that this process made to its own API for an account. Nobody outside can be in here. */
const CALLERS = new WeakMap<IncomingMessage, Caller>();

export function actAs(request: IncomingMessage, caller: Caller): void {
  CALLERS.set(request, caller);
}

export function inProcessCaller(request: IncomingMessage): Caller | undefined {
  return CALLERS.get(request);
}
