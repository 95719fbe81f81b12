import { addressOf } from "../../lookups/parse-address.js";

/**
 * The client in a field of a log: an address, in brackets or not, with its port or not, or a list of them such as
 * X-Forwarded-For, whose first is the client and the others are proxies (developer.mozilla.org, "X-Forwarded-For"). A
 * client behind a proxy of its own network is first with an address that means nothing elsewhere: the first public one
 * counts, if there is one. Empty where there is none.
 */
export function clientAddress(field: string): string {
  if (addressOf(field).family !== 0) return field;
  const addresses = field
    .replaceAll('"', "")
    .split(",")
    .map(addressIn)
    .filter((address) => address !== "");
  return addresses.find(isPublic) ?? addresses[0] ?? "";
}

/** A client of the server's own network is a proxy where it names another: the first public address that it forwards. */
export function clientBehind(address: string, forwarded: string): string {
  if (forwarded === "" || address === "" || isPublic(address)) return address;
  const client = clientAddress(forwarded);
  return client !== "" && isPublic(client) ? client : address;
}

function addressIn(entry: string): string {
  const text = entry.trim();
  const [, inBrackets] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? [];
  // Without brackets a port is told from a group of IPv6 by the dots before it.
  const address = (inBrackets ?? text.replace(/^(.*\.\d+):\d+$/, "$1")).replace(/%.*/, "");
  return addressOf(address).family === 0 ? "" : address;
}

/** Whether an address can be that of somebody on the internet: IANA's registries of special-purpose addresses. */
function isPublic(address: string): boolean {
  const { family, words } = addressOf(address);
  if (family === 6) return words[0]! >>> 29 === 1 && words[0] !== 0x20010db8;
  return !SPECIAL.some(([network, bits]) => (words[3]! ^ network) >>> (32 - bits) === 0);
}

const SPECIAL: readonly (readonly [network: number, bits: number])[] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 3],
];

/**
 * The client in what an access log has before its time: `[virtual host] client ident user`, where the client may be a list.
 * Empty where there is none, or where it cannot be told from another address.
 */
export function clientBefore(head: string): string {
  const words = head.replaceAll(/,\s+/g, ",").split(/\s+/).filter(Boolean);
  const ident = words.indexOf("-", 1);
  const places = words.slice(0, ident > 0 ? ident : Math.max(2, words.length - 2));
  if (!isUser(words.slice(places.length + 1))) return "";
  const found = places.flatMap((field, at) => {
    const address = clientAddress(field);
    return address === "" ? [] : [{ field, at, address }];
  });
  const [first, second, ...others] = found;
  if (first === undefined || others.length > 0) return "";
  if (second !== undefined) return isHost(first) ? second.address : isList(first) ? first.address : "";
  const isLast = first.at === places.length - 1;
  // A name behind an address is that of the host, or the client's where servers look it up.
  const isClient = isLast || (ident < 0 && words.length <= 3) || (!hasPort(first) && isPublic(first.address));
  return isClient ? first.address : "";
}

/** Whether these words are a user's name. Otherwise they are of another line, before which a line end was lost. */
function isUser([first = "", ...others]: readonly string[]): boolean {
  // The Ingress of nginx has the client again: `192.0.2.1 - [192.0.2.1] - frank`.
  const words = first.startsWith("[") ? others.slice(1) : [first, ...others];
  return words.length <= 1 || !words.some((word) => word === "-" || addressOf(word).family !== 0);
}

interface FoundAddress {
  field: string;
  address: string;
}

/** The first of two addresses: that of the server with its port, as an IPv6 literal, or in a network that is not the client's. */
function isHost(first: FoundAddress): boolean {
  return hasPort(first) || (first.field.startsWith("[") && !isList(first)) || !isPublic(first.address);
}

function isList({ field }: FoundAddress): boolean {
  return field.includes(",");
}

function hasPort({ field, address }: FoundAddress): boolean {
  return /(?:\]|\.\d+):\d+$/.test(field) && field !== address;
}
