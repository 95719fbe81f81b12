import { type LookupAddress, promises as dns } from "node:dns";
import type { LookupFunction } from "node:net";
import { parseAddress } from "../../../enrich/lookups/parse-address.js";
import { isHttpUrl } from "../../../schemas/formats.js";

interface AddressRules {
  /** Allows any address and port, for tests and closed networks. */
  allowPrivateNetworks: boolean;
}

/** The end of a sentence; undefined if it is allowed. `addressFault` checks its addresses when connecting. */
export function urlFault(text: string, rules: AddressRules): string | undefined {
  if (!isHttpUrl(text)) return "must be an absolute http or https URL, without spaces, user name or password";
  const url = new URL(text);
  const host = hostOf(url);
  if (host === "") return "must name a host";
  if (rules.allowPrivateNetworks) return undefined;
  if (url.port !== "" && BLOCKED_PORTS.has(Number(url.port)))
    return (
      `must not use port ${url.port}, which belongs to a protocol other than HTTP ` +
      "(https://fetch.spec.whatwg.org/#bad-port)"
    );
  if (LOCAL_NAME.test(host)) return `must not point to ${host}, which is the service's own machine`;
  return isAddress(host) ? addressFault(host, rules) : undefined;
}

/** Why an address may not be connected to; as `urlFault`. */
export function addressFault(address: string, rules: AddressRules): string | undefined {
  if (rules.allowPrivateNetworks || isPublicAddress(address)) return undefined;
  return `must not point to ${address}, which is not an address on the public internet`;
}

/** The host of a URL, for lookup and connection: without brackets and without the trailing dot of the root. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function isAddress(host: string): boolean {
  return parseAddress(host, words) !== 0;
}

export function isPublicAddress(address: string): boolean {
  const family = parseAddress(address, words);
  if (family === 0) return false;
  return family === 4 ? isPublicIpv4(words[0] ?? 0) : isPublicIpv6(words);
}

/** Reused: nothing here is asynchronous. */
const words = new Uint32Array(4);

function isPublicIpv4(value: number): boolean {
  return !SPECIAL_IPV4.some(({ base, bits }) => value >>> (32 - bits) === base >>> (32 - bits));
}

/**
 * IPv6: only global unicast, 2000::/3, without the special ranges in it. Loopback, unique local, link-local, multicast
 * and unassigned addresses lie outside of it. An embedded IPv4 address is checked as that address.
 */
function isPublicIpv6(address: Uint32Array): boolean {
  const [first = 0, second = 0, third = 0, last = 0] = address;
  const isMapped = first === 0 && second === 0 && third === 0xffff;
  const isNat64 = first === 0x0064_ff9b && second === 0 && third === 0;
  if (isMapped || isNat64) return isPublicIpv4(last);
  if (first >>> 29 !== 1) return false;
  return !SPECIAL_IPV6.some(({ base, bits }) => isWithin(address, base, bits));
}

function isWithin(address: Uint32Array, base: Uint32Array, bits: number): boolean {
  return base.every((word, index) => {
    const compared = Math.min(32, Math.max(0, bits - index * 32));
    return compared === 0 || word >>> (32 - compared) === (address[index] ?? 0) >>> (32 - compared);
  });
}

function ranges<Base>(text: string, parse: (address: string) => Base): { base: Base; bits: number }[] {
  return text
    .trim()
    .split(/\s+/)
    .map((range) => {
      const [address = "", bits = ""] = range.split("/");
      return { base: parse(address), bits: Number(bits) };
    });
}

function parseWords(address: string): Uint32Array {
  const parsed = new Uint32Array(4);
  if (parseAddress(address, parsed) === 0) throw new Error(`${address} is not an IP address`);
  return parsed;
}

/**
 * All ranges of the IANA IPv4 Special-Purpose Address Registry
 * (https://www.iana.org/assignments/iana-ipv4-special-registry), reachable or not; multicast; and 168.63.129.16, the
 * host's address on every Azure machine
 * (https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16).
 */
const SPECIAL_IPV4 = ranges(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
  203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`,
  (address) => parseWords(address)[0] ?? 0,
);

/**
 * The ranges of the IANA IPv6 Special-Purpose Address Registry
 * (https://www.iana.org/assignments/iana-ipv6-special-registry) within 2000::/3: IETF protocols with Teredo and
 * benchmarking, documentation, 6to4, and direct delegation of AS112.
 */
const SPECIAL_IPV6 = ranges("2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20", parseWords);

/** Names of RFC 6761, and those in the hosts files of Linux distributions. */
const LOCAL_NAME =
  /^(?:.*\.)?localhost6?(?:\.localdomain6?)?$|^(?:.*\.)?localdomain6?$|^ip6-(?:localhost|loopback)$/;

/** The bad ports of the Fetch Standard: mail servers, say, would take a request as commands. */
const BLOCKED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** All addresses of a name. Rejects if there are none or the lookup fails. */
export type ResolveName = (name: string) => Promise<LookupAddress[]>;

/** The guard of requests that users make the service send. It checks a URL when it is stored and at each request. */
export interface AddressGuard {
  /** See `urlFault`. Call it before each request: an address literal is not looked up. */
  faultOf(url: string): string | undefined;
  /** As `faultOf`, also for the current addresses of its name. An unknown name is no fault: it may exist later. */
  faultNow(url: string): Promise<string | undefined>;
  /** Fails with `AddressNotAllowed` if any address is refused. The connection uses those that were checked. */
  lookup: LookupFunction;
}

export class AddressNotAllowed extends Error {}

export function createAddressGuard(rules: AddressRules, resolve: ResolveName): AddressGuard {
  const isRefused = ({ address }: LookupAddress) => addressFault(address, rules) !== undefined;
  const checked = async (name: string) => {
    const addresses = await resolve(name);
    if (addresses.some(isRefused)) throw new AddressNotAllowed(`The URL ${nameFault(name)}.`);
    return addresses;
  };
  return {
    faultOf: (url) => urlFault(url, rules),
    async faultNow(url) {
      const fault = urlFault(url, rules);
      const host = fault === undefined ? hostOf(new URL(url)) : "";
      if (fault !== undefined || isAddress(host)) return fault;
      const addresses = await resolve(host).catch(() => []);
      return addresses.some(isRefused) ? nameFault(host) : undefined;
    },
    lookup(name, { all }, callback) {
      checked(name).then(
        (addresses) => {
          const [{ address, family } = { address: "", family: 0 }] = addresses;
          if (all === true) callback(null, addresses);
          else callback(null, address, family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ""),
      );
    },
  };
}

/** Omits the address: the caller may not be allowed to know internal addresses. */
function nameFault(name: string): string {
  return `must not point to ${name}, which has an address outside the public internet`;
}

/** The guard for all requests that users make the service send. */
export function createGuard(rules: AddressRules): AddressGuard {
  return createAddressGuard(rules, rules.allowPrivateNetworks ? resolveAnyName : resolveName);
}

const NAME_SERVER_MS = 2_000;

/** Past the system's lookup: its few threads would all wait for a name whose servers do not answer. */
const resolveName: ResolveName = async (name) => {
  const resolver = new dns.Resolver({ timeout: NAME_SERVER_MS, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer, index): LookupAddress[] =>
    answer.status === "rejected"
      ? []
      : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
  );
  const [first] = answers;
  if (addresses.length > 0) return addresses;
  throw first.status === "rejected" ? first.reason : new Error(`${name} has no IP address`);
};

/** On a closed network hosts files and search domains count too; its users may block the threads. */
const resolveAnyName: ResolveName = (name) =>
  resolveName(name).catch(() => dns.lookup(name, { all: true, verbatim: true }));
